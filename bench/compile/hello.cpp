// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The smallest program with a wheel, as examples/hello_timer.cpp: what a user compiles first. With -DFLOOR it has the
// least wheel instead.
#ifdef FLOOR
#include "floor.hpp"
namespace wheels = least;
#else
#include <cogwheel/asio/timer_wheel.hpp>
namespace wheels = cogwheel;
#endif

#include <asio/io_context.hpp>

#include <chrono>
#include <cstdio>
int main() {
    using namespace std::chrono_literals;
    asio::io_context io;
    wheels::timer_wheel wheel{io};
    wheels::timer_token reminder = wheel.schedule(5s, [] { std::puts("too late: nobody answered"); });
    wheel.async_wait(100ms, [reminder](std::error_code ec) {
        std::puts(ec ? "the wait was aborted" : "hello after 100 ms");
        if (reminder.cancel()) std::puts("the reminder is cancelled");
    });
    io.run();
}
