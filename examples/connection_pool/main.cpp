// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// connection_pool: a few connections that many share. Idle ones expire, who waits too long is told (pool.hpp is yours
// to copy).

#include "program.hpp"

asio::awaitable<std::string> demo::ask(pool_pointer pool, std::string question, std::chrono::nanoseconds patience) {
    // An idle connection, a new one, or one that somebody gives back: whichever can be had in time. Else timed_out.
    auto connection = co_await pool->acquire(cogwheel::deadline::after(patience));

    std::string answer;
    co_await asio::async_write(connection.socket(), asio::buffer(question), asio::use_awaitable);
    const std::size_t size = co_await asio::async_read_until(
        connection.socket(), asio::dynamic_buffer(answer, longest_line), '\n', asio::use_awaitable);

    // The answer is whole, and nothing follows it: so the next one may have it. Otherwise, as after an exception, it is
    // closed.
    if (size == answer.size()) connection.release();
    co_return answer.substr(0, size);
}

int main(int argc, char** argv) { return demo::run(argc, argv); }
