// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Many clients, each with some calls under way all the time, for a while; and the sums.

#include "client.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>

#include <cstdio>
#include <deque>

namespace rpc {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view usage_of_call = R"(usage: rpc call --port P [options]
  --port P         port of the server, on 127.0.0.1
  --connections N  clients, a connection each (default 10)
  --ramp D         until all of them have begun (default 0)
  --in-flight N    calls each has under way (default 4)
  --pause D        before a next call (default 10ms)
  --seconds N      how long (default 2)
  --connect D      limit of an attempt to connect (default 5s)
  --timeout D      limit of an attempt to call (default 200ms)
  --deadline D     limit of a call, all attempts together (default 1s)
  --attempts N     at the most (default 3)
  --heartbeat D    ping when nothing has been sent for D (default 1s)
Exit code: 0 each call is accounted for, and some were answered; 1 not so, or not one was; 2 it could not start as asked.
)";

struct options {
    client_options client{.server{asio::ip::address_v4::loopback(), 0}, .timeout = 200ms, .heartbeat = 1s};
    std::size_t connections = 10, in_flight = 4;
    std::chrono::nanoseconds ramp{0}, pause = 10ms, length = 2s, until = 1s;
    bool help = false;
};

options parse(int argc, char** argv) {
    options o;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port")
            o.client.server.port(static_cast<std::uint16_t>(line.count(1, 65535)));
        else if (name == "--connections")
            o.connections = line.count(1, 20'000);
        else if (name == "--ramp")
            o.ramp = line.duration();
        else if (name == "--in-flight")
            o.in_flight = line.count(1, 10'000);
        else if (name == "--pause")
            o.pause = line.duration();
        else if (name == "--seconds")
            o.length = line.duration("s");
        else if (name == "--connect")
            o.client.connect = line.positive_duration();
        else if (name == "--timeout")
            o.client.timeout = line.duration();
        else if (name == "--deadline")
            o.until = line.duration();
        else if (name == "--attempts")
            o.client.attempts = static_cast<std::uint32_t>(line.count(1, 1000));
        else if (name == "--heartbeat")
            o.client.heartbeat = line.positive_duration();
        else if (name == "--help" || name == "-h")
            o.help = true;
        else
            line.unknown();
    }
    if (!o.help && o.client.server.port() == 0) throw command_line::usage_error{"--port is missing (see --help)"};
    return o;
}

struct tally {
    std::uint64_t made = 0, answered = 0, timed_out = 0, failed = 0, wrong = 0;
};

// One call after the other until the end.
asio::awaitable<void> caller(rpc::client& client, cogwheel::timer_wheel& wheel, const options& o,
                             std::chrono::steady_clock::time_point end, std::uint64_t number, tally& t,
                             std::size_t& running) {
    while (std::chrono::steady_clock::now() < end) {
        ++t.made;
        const std::string body = fmt::format("call {} of caller {}", t.made, number);
        try {
            const std::string answer = co_await client.call(body, cogwheel::deadline::after(o.until));
            ++t.answered;
            t.wrong += answer != body;
        } catch (const std::system_error& error) {
            ++(error.code() == asio::error::timed_out ? t.timed_out : t.failed);
        }
        std::error_code ignored;
        co_await wheel.async_wait(o.pause, asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (--running == 0) client.stop();
}

int run(const options& o) {
    asio::io_context io{1};
    cogwheel::timer_wheel wheel{io, {.tick = 1ms}};
    cogwheel::retry_budget budget{{.ratio = 0.2, .min_per_second = 100, .capacity = 1000}};
    std::deque<rpc::client> clients;
    std::deque<std::size_t> running;
    tally t;

    const auto begin = std::chrono::steady_clock::now(), end = begin + o.length;
    const auto start = [&](std::size_t i) {
        auto& client = clients.emplace_back(wheel, o.client, budget);
        auto& callers = running.emplace_back(o.in_flight);
        asio::co_spawn(io, client.run(), rethrow);
        for (std::size_t k = 0; k < o.in_flight; ++k)
            asio::co_spawn(io, caller(client, wheel, o, end, i * o.in_flight + k, t, callers), rethrow);
    };
    const auto start_all = [&]() -> asio::awaitable<void> {
        for (std::size_t i = 0; i < o.connections; ++i) {
            start(i);
            if (o.ramp.count() != 0)
                co_await wheel.async_wait(begin + o.ramp * static_cast<std::int64_t>(i + 1) /
                                                      static_cast<std::int64_t>(o.connections),
                                          asio::use_awaitable);
        }
    };
    asio::co_spawn(io, start_all(), rethrow);
    io.run();

    cogwheel::request_stats r;
    client_counts c;
    for (const auto& client : clients) {
        r.started += client.requests().started;
        r.answered += client.requests().answered;
        r.timed_out += client.requests().timed_out;
        r.failed += client.requests().failed;
        r.cancelled += client.requests().cancelled;
        r.late += client.requests().late;
        c.connects += client.counts().connects;
        c.drops += client.counts().drops;
        c.pings += client.counts().pings;
    }
    fmt::print("calls     {} = {} answered + {} timed out + {} failed\n", t.made, t.answered, t.timed_out, t.failed);
    fmt::print("requests  {} = {} answered + {} timed out + {} failed + {} cancelled; {} late answers\n", r.started,
               r.answered, r.timed_out, r.failed, r.cancelled, r.late);
    fmt::print("retries   {} granted, {} refused\n", budget.stats().granted, budget.stats().refused);
    fmt::print("network   {} connects, {} lost, {} pings\n", c.connects, c.drops, c.pings);
    const bool adds_up = t.made == t.answered + t.timed_out + t.failed &&
                         r.started == r.answered + r.timed_out + r.failed + r.cancelled && wheel.pending() == 0;
    fmt::print("{}\n", !adds_up          ? "the sums do not agree"
                       : t.wrong != 0    ? "wrong answers"
                       : t.answered == 0 ? "not one call was answered"
                                         : "all accounted for");
    return adds_up && t.wrong == 0 && t.answered != 0 ? 0 : 1;
}

} // namespace

int call(int argc, char** argv) {
    const options o = parse(argc, argv);
    if (o.help) return fmt::print("{}", usage_of_call), 0;
    raise_descriptor_limit();
    return run(o);
}

} // namespace rpc
