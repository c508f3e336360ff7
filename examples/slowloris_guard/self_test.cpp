// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Clients of eight kinds, twenty of each, with timers of their own, so that the server's wheel counts the server's
// alone. Those that are fast enough are so by far, lest a pause of the machine makes them slow.

#include "program.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace guard {
namespace {

using namespace std::chrono_literals;
using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr demands trial_demands{.within = 1500ms, .grace = 200ms, .rate = 20};
constexpr int clients_of_a_kind = 20;

struct kind {
    std::string_view name;
    std::string first; // sent at once
    std::string piece; // sent after each pause, so many times
    int pieces;
    std::chrono::milliseconds pause;
    std::string last;
    std::string_view status; // expected; empty: none, for the client leaves
    std::chrono::nanoseconds not_before;
    int as_expected = 0;
    clock::duration soonest = clock::duration::max();
    clock::duration latest{};
};

asio::awaitable<void> send(std::shared_ptr<tcp::socket> socket, wheel& timers, const kind& k) {
    co_await asio::async_write(*socket, asio::buffer(k.first), use_awaitable);
    for (int i = 0; i < k.pieces; ++i) {
        co_await timers.async_wait(k.pause, use_awaitable);
        co_await asio::async_write(*socket, asio::buffer(k.piece), use_awaitable);
    }
    co_await asio::async_write(*socket, asio::buffer(k.last), use_awaitable);
}

asio::awaitable<void> client(tcp::endpoint server, wheel& timers, kind& k) {
    const auto began = clock::now();
    const auto executor = co_await asio::this_coro::executor;
    const auto socket = std::make_shared<tcp::socket>(executor);
    co_await socket->async_connect(server, use_awaitable);
    std::string answer;
    if (k.status.empty()) {
        co_await send(socket, timers, k);
    } else {
        asio::co_spawn(executor, send(socket, timers, k), rethrow_unless_network);
        std::error_code ec;
        co_await asio::async_read(*socket, asio::dynamic_buffer(answer), redirect_error(use_awaitable, ec));
    }
    socket->close();
    const auto took = clock::now() - began;
    k.soonest = std::min(k.soonest, took);
    k.latest = std::max(k.latest, took);
    k.as_expected += answer.substr(0, 12) == k.status && took >= k.not_before ? 1 : 0;
}

} // namespace

int self_test() {
    const std::string get = "GET / HTTP/1.1\r\n", end = "\r\n\r\n", cookie = "Cookie: " + std::string(100, 'x');
    const std::string_view ok = "HTTP/1.1 200", late = "HTTP/1.1 408", too_large = "HTTP/1.1 431";
    std::array kinds{
        kind{"prompt", get + "Host: x" + end, "", 0, 0ms, "", ok, 0ms},
        kind{"slow but steady", get + cookie, std::string(100, 'x'), 10, 30ms, end, ok, 300ms},
        kind{"silent", "", "", 0, 0ms, "", late, trial_demands.grace},
        kind{"drips", "G", "E", 1000, 100ms, "", late, trial_demands.grace},
        kind{"much, then silent", get + cookie, "", 0, 0ms, "", late, trial_demands.grace},
        kind{"never ends", get + cookie, std::string(60, 'x'), 1000, 20ms, "", late, trial_demands.within},
        kind{"too much", get + std::string(9000, 'x'), "", 0, 0ms, "", too_large, 0ms},
        kind{"leaves", get, "", 0, 0ms, "", "", 0ms},
    };
    constexpr std::size_t connections = kinds.size() * clients_of_a_kind;

    asio::io_context io{1};
    server server{io, 0, trial_demands};
    wheel clients_timers{io, {.tick = 1ms}};
    std::size_t running = connections;
    for (kind& k : kinds)
        for (int i = 0; i < clients_of_a_kind; ++i)
            asio::co_spawn(io, client(server.endpoint(), clients_timers, k), [&](const std::exception_ptr&) {
                if (--running == 0) server.stop();
            });
    io.run();

    bool as_expected = true;
    for (const kind& k : kinds) {
        const auto ms = [](auto time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); };
        const bool all = k.as_expected == clients_of_a_kind;
        as_expected &= all;
        fmt::print("{:4} {:18} {:2} of {} as expected ({}), after {} .. {} ms\n", all ? "ok" : "FAIL", k.name,
                   k.as_expected, clients_of_a_kind, k.status.empty() ? "gone" : k.status.substr(9), ms(k.soonest),
                   ms(k.latest));
    }
    // One until the verdict; those who were late, one more to say so. The rest is for a machine that is busy elsewhere.
    const bool one_timer = server.timer_stats().scheduled <= 3 * connections;
    fmt::print("{}{:4} one timer a connection, no wake-up a piece\n", server.summary(), one_timer ? "ok" : "FAIL");
    return as_expected && one_timer ? 0 : 1;
}

} // namespace guard
