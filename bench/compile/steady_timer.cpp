// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The program of hello.cpp with two steady_timers.
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <chrono>
#include <cstdio>
int main() {
    using namespace std::chrono_literals;
    asio::io_context io;
    asio::steady_timer reminder(io, 5s);
    reminder.async_wait([](std::error_code ec) {
        if (!ec) std::puts("too late: nobody answered");
    });
    asio::steady_timer t(io, 100ms);
    t.async_wait([&](std::error_code ec) {
        std::puts(ec ? "the wait was aborted" : "hello after 100 ms");
        if (reminder.cancel()) std::puts("the reminder is cancelled");
    });
    io.run();
}
