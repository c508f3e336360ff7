// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A server whose path says how it behaves, and a client for each path. In each case one limit is short and the others
// are long, so the outcome does not depend on how busy the machine is.

#include "program.hpp"
#include "support/accept_loop.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/read_until.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <array>
#include <memory>

namespace http {
namespace {

using namespace std::chrono_literals;
using asio::use_awaitable;
using asio::ip::tcp;
using clock = std::chrono::steady_clock;

asio::awaitable<void> say(tcp::socket& client, std::string text) {
    co_await asio::async_write(client, asio::buffer(text), use_awaitable);
}

// Until the client hangs up.
asio::awaitable<void> say_again_and_again(tcp::socket& client, wheel& timers, std::string text) {
    for (;;) {
        co_await say(client, text);
        co_await timers.async_wait(20ms, use_awaitable);
    }
}

asio::awaitable<void> wait_for_the_end(tcp::socket& client) {
    std::array<char, 64> ignored;
    for (;;) co_await client.async_read_some(asio::buffer(ignored), use_awaitable);
}

asio::awaitable<void> behave(tcp::socket client, wheel& timers) {
    std::string request;
    co_await asio::async_read_until(client, asio::dynamic_buffer(request), std::string{"\r\n\r\n"}, use_awaitable);
    const auto path = request.substr(4, request.find(' ', 4) - 4);
    const std::string ok = "HTTP/1.1 200 OK\r\n", chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";

    if (path == "/prompt") {
        co_await say(client, ok + "Content-Length: 5\r\n\r\nhello");
    } else if (path == "/chunked") {
        for (const char* piece : {"HTTP/1.1 100 Continue\r\n\r\n", chunked.c_str(), "5;x=y\r\nhel", "lo\r", "\n",
                                  "00B\r\n chunky wor\r\n2\r\nld\r\n", "0\r\nTrailer: x\r\n", "\r\n"}) {
            co_await say(client, piece);
            co_await timers.async_wait(10ms, use_awaitable);
        }
    } else if (path == "/until-close") {
        co_await say(client, ok + "\r\nhello");
    } else if (path == "/slow-but-steady") {
        co_await say(client, ok + "Content-Length: 40\r\n\r\n");
        for (int i = 0; i < 40; ++i) {
            co_await timers.async_wait(20ms, use_awaitable);
            co_await say(client, ".");
        }
    } else if (path == "/never-answers") {
        co_await wait_for_the_end(client);
    } else if (path == "/drips-its-header") {
        co_await say(client, ok);
        co_await say_again_and_again(client, timers, "X: y\r\n");
    } else if (path == "/stalls-in-the-body") {
        co_await say(client, chunked + "ff\r\nhello");
        co_await wait_for_the_end(client);
    } else if (path == "/never-ends") {
        co_await say(client, chunked);
        co_await say_again_and_again(client, timers, "1\r\n.\r\n");
    } else if (path == "/ends-early") {
        co_await say(client, ok + "Content-Length: 100\r\n\r\nhello");
    } else {
        co_await say(client, "220 mail.example ESMTP\r\n\r\n");
    }
}

asio::awaitable<void> serve(tcp::acceptor& acceptor, wheel& timers) {
    return accept_loop(acceptor, timers, "http_get_with_timeout", [&](tcp::socket client) {
        asio::co_spawn(acceptor.get_executor(), behave(std::move(client), timers), rethrow_unless_network);
        return true;
    });
}

struct test_case {
    target to;
    limits most;
    int code;
    std::uint64_t bytes;
    std::chrono::nanoseconds not_before{};
};

} // namespace

int self_test() {
    asio::io_context io{1};
    wheel timers{io};
    tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    asio::co_spawn(io, serve(acceptor, timers), rethrow);

    const auto code = [](limit l) { return static_cast<int>(l); };
    const auto to = [port = std::to_string(acceptor.local_endpoint().port())](const char* path) {
        return target{"127.0.0.1", port, path};
    };
    const std::array cases{
        test_case{to("/prompt"), {}, 0, 5},
        test_case{to("/chunked"), {}, 0, 18},
        test_case{to("/until-close"), {}, 0, 5},
        test_case{to("/slow-but-steady"), {.body_idle = 700ms}, 0, 40, 800ms},
        test_case{to("/never-answers"), {.first_byte = 100ms}, code(limit::first_byte), 0, 100ms},
        test_case{to("/drips-its-header"), {.header = 200ms}, code(limit::header), 0, 200ms},
        test_case{to("/stalls-in-the-body"), {.body_idle = 150ms}, code(limit::body_idle), 5, 150ms},
        test_case{to("/never-ends"), {.body_idle = 30s, .total = 300ms}, code(limit::total), 0, 300ms},
        test_case{to("/never-answers"), {.total = 100ms}, code(limit::total), 0, 100ms},
        test_case{to("/ends-early"), {}, 1, 5},
        test_case{to("/speaks-smtp"), {}, 1, 0},
    };

    std::size_t running = cases.size(), wrong = 0;
    const auto began = clock::now();
    for (const test_case& c : cases) {
        const auto bytes = std::make_shared<std::uint64_t>(0);
        asio::co_spawn(io, get(timers, c.to, c.most, [bytes](std::string_view piece) { *bytes += piece.size(); }),
                       [&, bytes](const std::exception_ptr& failure, const response&) {
                           const auto took = clock::now() - began;
                           const bool as_it_should = exit_code(failure) == c.code && took >= c.not_before &&
                                                     (*bytes == c.bytes || code(limit::total) == c.code);
                           wrong += as_it_should ? 0 : 1;
                           fmt::print("{:4} {:22} {:4} ms {:3} bytes  {}\n", as_it_should ? "ok" : "FAIL", c.to.path,
                                      std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), *bytes,
                                      describe(failure));
                           if (--running == 0) acceptor.close();
                       });
    }
    io.run();
    fmt::print("{} passed, {} failed; {} timers left\n", cases.size() - wrong, wrong, timers.pending());
    return wrong == 0 && timers.pending() == 0 ? 0 : 1;
}

} // namespace http
