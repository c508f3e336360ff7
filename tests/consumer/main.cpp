// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <system_error>

int main() {
    using namespace std::chrono_literals;
    asio::io_context io;
    cogwheel::timer_wheel wheel{io};
    bool fired = false;
    wheel.async_wait(10ms, [&](std::error_code ec) { fired = !ec; });
    io.run();
    return fired ? 0 : 1;
}
