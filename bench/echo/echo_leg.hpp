// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What an idle limit on each of so many connections costs an echo server. The leg's process is the server; its CPU time
// counts.
//
// The timers are armed and pushed back as they would be in earnest, and none fires. Between repetitions, however, the
// server does not run, maybe for longer than the limit: its connections are touched before it goes on. So the looks
// that a monitor's timer takes, one in 30 s, mostly come while nothing is measured: 10,000 of them take 6 ms, which is
// 0.02 % of a processor.
#pragma once

#include "echo/clients.hpp"
#include "echo/server.hpp"
#include "leg.hpp"
#include "machine.hpp"

#include <asio/posix/stream_descriptor.hpp>
#include <fmt/format.h>

#include <stdexcept>

#include <unistd.h>

namespace bench {

template <class Limit>
class echo_leg final : public leg {
public:
    static constexpr std::uint64_t requests = 50'000;

    explicit echo_leg(std::size_t connections) : clients_(connections) {
        clients_.connect(server_.port());
        serve_until_report();
        server_.context().restart();
        server_.context().poll(); // the last ones may still wait to be accepted
        if (server_.connections() != connections)
            throw std::runtime_error(fmt::format("{} connections instead of {}", server_.connections(), connections));
    }

    sample repeat(std::uint64_t repetition) override {
        server_.touch_all();
        clients_.ask(requests / 4, 2 * repetition + 1);
        serve_until_report();

        clients_.ask(requests, 2 * repetition + 2);
        const stopwatch watch;
        const echo::report seen = serve_until_report();
        sample s;
        s.cpu_ns = watch.cpu_ns() / requests;
        s.mallocs = static_cast<double>(watch.mallocs()) / requests;
        s.wall_ns = seen.wall_ns / requests;
        s.operations = requests;
        s.figures = {1e9 / s.wall_ns, seen.p50_ns / 1e3, seen.p99_ns / 1e3, seen.max_ns / 1e3};

        server_.context().restart();
        server_.context().poll(); // the last writes' handlers, and those of aborted waits
        s.result.cancelled = server_.kicked();
        s.result.pending = server_.pending();
        s.result.fired.fired = seen.intact;
        return s;
    }

private:
    echo::report serve_until_report() {
        asio::io_context& io = server_.context();
        report_.async_wait(asio::posix::stream_descriptor::wait_read, [&io](std::error_code) { io.stop(); });
        io.restart();
        io.run();
        return clients_.answer();
    }

    echo::clients clients_; // first: it forks
    echo::server<Limit> server_;
    asio::posix::stream_descriptor report_{server_.context(), ::dup(clients_.descriptor())};
};

} // namespace bench
