// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// idle_echo: a whole echo server that closes idle connections. Arguments: [PORT [SECONDS]].
//
// - It closes a connection over which no byte has gone in either direction for SECONDS (30). So it also closes the
//   connection of a peer that sends and does not read.
// - At 1,000 connections it accepts no more, and further clients wait in the system's queue. Out of descriptors, it
//   tries again after a moment.
// - At SIGINT or SIGTERM it echoes what has come, and ends. It cuts connections that are open 10 s later.
// - Exit code: 0; 1 if it cut connections, or failed.
#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/net/session_group.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <list>
#include <string>

using namespace std::chrono_literals;
using asio::use_awaitable;
using asio::ip::tcp;
using connection = cogwheel::idle_stream<tcp::socket>;

auto into(std::error_code& ec) { return asio::redirect_error(use_awaitable, ec); }

void rethrow(const std::exception_ptr& failure) { // out of run(): nothing fails in silence
    if (failure) std::rethrow_exception(failure);
}

struct server {
    asio::io_context io{1};
    cogwheel::timer_wheel wheel{io};
    tcp::acceptor acceptor;
    std::chrono::seconds idle;
    std::list<connection> open{}; // so that all can be told to end
    cogwheel::session_group<> sessions{wheel};
    bool cut = false;

    server(std::uint16_t port, std::chrono::seconds limit)
        : acceptor{io, {asio::ip::address_v4::loopback(), port}}, idle{limit} {}

    asio::awaitable<void> echo(std::list<connection>::iterator c, cogwheel::session_group<>::member) {
        c->observe_output(); // a peer that reads slowly is not idle
        c->close_when_idle();
        std::error_code ec;
        for (std::array<char, 4096> data; !ec;) {
            const std::size_t n = co_await c->async_read_some(asio::buffer(data), into(ec));
            if (!ec) co_await asio::async_write(*c, asio::buffer(data, n), into(ec));
        }
        if (ec != asio::error::eof) std::fprintf(stderr, "connection: %s\n", ec.message().c_str());
        open.erase(c);
    }

    asio::awaitable<void> accept() {
        for (std::error_code ec, last; acceptor.is_open(); last = ec) {
            tcp::socket socket{io};
            if (open.size() < 1000) co_await acceptor.async_accept(socket, into(ec));
            if (ec && ec != last && acceptor.is_open()) std::fprintf(stderr, "accept: %s\n", ec.message().c_str());
            if (!socket.is_open()) { // full, or out of descriptors: trying again at once would spin
                co_await wheel.async_wait(50ms, use_awaitable);
                continue;
            }
            const auto c = open.emplace(open.end(), wheel, cogwheel::idle_timeouts{.all = idle}, std::move(socket));
            asio::co_spawn(io, echo(c, sessions.enter()), rethrow);
        }
    }

    asio::awaitable<void> end_at_signal() {
        asio::signal_set signals{io, SIGINT, SIGTERM};
        co_await signals.async_wait(use_awaitable);
        signals.clear(); // a second one ends the process at once
        acceptor.close();
        std::error_code ec;
        for (connection& c : open) c.next_layer().shutdown(tcp::socket::shutdown_receive, ec); // reads end with eof
        co_await sessions.async_drain(10s, into(ec));
        cut = !open.empty();
        for (connection& c : open) c.close();
    }
};

int main(int argc, char** argv) {
    try {
        server s{static_cast<std::uint16_t>(argc > 1 ? std::stoul(argv[1]) : 7777),
                 std::chrono::seconds{argc > 2 ? std::stoul(argv[2]) : 30}};
        std::printf("listening on 127.0.0.1:%d\n", s.acceptor.local_endpoint().port());
        std::fflush(stdout);
        asio::co_spawn(s.io, s.accept(), rethrow);
        asio::co_spawn(s.io, s.end_at_signal(), rethrow);
        s.io.run(); // until SIGINT or SIGTERM
        return s.cut ? 1 : 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "idle_echo: %s\n", e.what());
        return 1;
    }
}
