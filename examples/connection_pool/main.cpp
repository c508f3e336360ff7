// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// connection_pool: twelve questions at once, and two connections that they share. Idle connections expire, and a caller
// that waits too long is told. pool.hpp is the part to copy.

#include "pool.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace {

using namespace std::chrono_literals;
using asio::use_awaitable;
using asio::ip::tcp;
using pool_pointer = std::shared_ptr<connection_pool<>>;

constexpr std::size_t longest_line = 4096; // without a bound, a peer that ends none fills the memory

/// Asks the server in a line, which it answers by one. Errors: std::system_error; timed_out: no connection in time.
asio::awaitable<std::string> ask(pool_pointer pool, std::string question) {
    auto connection =
        co_await pool->acquire(cogwheel::deadline::after(5s)); // an idle one, a new one, or one given back
    std::string answer;
    co_await asio::async_write(connection.socket(), asio::buffer(question), use_awaitable);
    const std::size_t size = co_await asio::async_read_until(
        connection.socket(), asio::dynamic_buffer(answer, longest_line), '\n', use_awaitable);
    // The answer is whole, and nothing follows it: so the next one may have the connection. Else, as after an
    // exception, it is closed.
    if (size == answer.size()) connection.release();
    co_return answer.substr(0, size);
}

/// A server that echoes lines.
asio::awaitable<void> serve(tcp::socket client) {
    std::string line;
    for (;;) {
        const std::size_t size =
            co_await asio::async_read_until(client, asio::dynamic_buffer(line, longest_line), '\n', use_awaitable);
        co_await asio::async_write(client, asio::buffer(line, size), use_awaitable);
        line.erase(0, size);
    }
}

asio::awaitable<void> accept(tcp::acceptor& acceptor) {
    for (;;) {
        asio::co_spawn(acceptor.get_executor(), serve(co_await acceptor.async_accept(use_awaitable)),
                       [](const std::exception_ptr& failure) {
                           try {
                               std::rethrow_exception(failure);
                           } catch (const std::system_error&) { // the client has left
                           }
                       });
    }
}

} // namespace

int main() {
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io);
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    asio::co_spawn(io, accept(acceptor), [&](const std::exception_ptr& failure) {
        if (acceptor.is_open()) std::rethrow_exception(failure); // out of run(): nothing fails in silence
    });
    const auto pool = std::make_shared<connection_pool<>>(io.get_executor(), wheel, acceptor.local_endpoint(),
                                                          pool_options{.max_connections = 2, .idle_limit = 100ms});

    int right = 0, asked = 12, running = asked;
    const auto report = [&](const std::exception_ptr& failure, const std::string& answer) {
        try {
            if (failure) std::rethrow_exception(failure);
            right += answer == "the question\n" ? 1 : 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "a question failed: %s\n", error.what());
        }
        if (--running != 0) return;
        const pool_stats& stats = pool->stats();
        std::printf("%d of %d answers; %llu connections opened, %llu times one was used again\n", right, asked,
                    static_cast<unsigned long long>(stats.opened), static_cast<unsigned long long>(stats.reused));
        wheel.schedule(300ms, [&] { // long after the idle limit
            std::printf("%llu connections expired\n", static_cast<unsigned long long>(pool->stats().expired));
            pool->close();
            acceptor.close();
        });
    };
    for (int i = 0; i < asked; ++i) asio::co_spawn(io, ask(pool, "the question\n"), report);
    io.run();
    return right == asked ? 0 : 1;
}
