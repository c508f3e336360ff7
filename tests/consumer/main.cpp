// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Needs what a program most often needs: the headers, the library, and Asio's coroutines.
#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>

asio::awaitable<void> wait(cogwheel::timer_wheel& wheel, bool& fired) {
    co_await wheel.async_wait(std::chrono::milliseconds(10), asio::use_awaitable);
    fired = true;
}

int main() {
    asio::io_context io;
    cogwheel::timer_wheel wheel{io};
    bool fired = false;
    asio::co_spawn(io, wait(wheel, fired), asio::detached);
    io.run();
    return fired ? 0 : 1;
}
