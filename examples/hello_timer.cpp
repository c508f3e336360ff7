// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The smallest program with a wheel: one wait that completes, one timer that is cancelled before it fires.
// The wheel has no thread: io.run() drives it, and returns when the last timer has ended.
#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/io_context.hpp>

#include <cstdio>

int main() {
    using namespace std::chrono_literals;
    asio::io_context io;
    cogwheel::timer_wheel wheel{io};

    cogwheel::timer_token reminder = wheel.schedule(5s, [] { std::puts("too late: nobody answered"); });
    wheel.async_wait(100ms, [reminder](std::error_code ec) {
        std::puts(ec ? "the wait was aborted" : "hello after 100 ms");
        if (reminder.cancel()) std::puts("the reminder is cancelled");
    });

    io.run();
}
