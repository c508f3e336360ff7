// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A class that was written for asio::steady_timer, with two lines changed. And what the wheel adds: pushing a limit
// back without aborting who waits for it.

#include "support/command_line.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/io_context.hpp>

#include <cstdio>

namespace {

using namespace std::chrono_literals;

class countdown {
public:
    // explicit countdown(asio::io_context& io) : timer_(io, 20ms) {}
    explicit countdown(cogwheel::timer_wheel& wheel) : timer_(wheel, 20ms) {}

    void run(int from) {
        std::printf("%d\n", from);
        if (from == 0) return;
        timer_.async_wait([this, from](std::error_code ec) {
            if (ec) return;
            timer_.expires_at(timer_.expiry() + 20ms);
            run(from - 1);
        });
    }

private:
    // asio::steady_timer timer_;
    cogwheel::wheel_timer timer_;
};

int example() {
    asio::io_context io;
    cogwheel::timer_wheel wheel(io);

    countdown launch(wheel);
    launch.run(3);

    cogwheel::wheel_timer idle(wheel, 30ms);
    idle.async_wait([](std::error_code ec) { std::puts(ec ? "aborted" : "idle, once, after the last push-back"); });
    for (int message = 1; message <= 3; ++message)
        wheel.schedule(message * 20ms,
                       [&idle] { idle.reschedule(30ms); }); // steady_timer would abort the wait each time

    io.run();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run(argc, argv, "drop_in_steady_timer",
                             "A class written for asio::steady_timer, with two lines changed.", example);
}
