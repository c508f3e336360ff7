// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A program that compiles the wheels in another of its files. Uses each of them, and one with a clock that the other
// file does not know.
#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel_of.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

namespace {

bool all_hold = true;

void check(bool holds, const char* what) {
    if (holds) return;
    std::printf("does not hold: %s\n", what);
    all_hold = false;
}

template <class Wheel>
void use(const char* name) {
    asio::io_context io;
    bool waited = false, called = false, too_late = false;
    std::error_code aborted;
    {
        Wheel wheel{io, {.tick = 1ms}};
        wheel.async_wait(2ms, [&](std::error_code ec) { waited = !ec; });
        wheel.schedule(3ms, [&] { called = true; });
        auto reminder = wheel.schedule(1h, [&] { too_late = true; });
        check(reminder.reschedule(2h) && reminder.cancel(), name);
        io.run();
        io.restart();
        wheel.async_wait(1h, [&](std::error_code ec) { aborted = ec; });
        check(wheel.pending() == 1 && wheel.stats().fired == 2, name);
    }
    io.run();
    check(waited && called && !too_late && aborted == asio::error::operation_aborted, name);
}

void use_manual_clock() {
    asio::io_context io;
    cogwheel::testing::manual_timer_wheel wheel{io};
    std::error_code limited;
    asio::steady_timer never(io, std::chrono::steady_clock::time_point::max());
    never.async_wait(cogwheel::timeout(wheel, 5s, [&](std::error_code ec) { limited = ec; }));
    io.poll();
    cogwheel::testing::manual_clock::advance(6s);
    io.poll();
    check(limited == asio::error::timed_out, "a timeout by the manual clock");
}

void use_wheel_of_context() {
    asio::io_context io;
    bool called = false;
    cogwheel::timer_wheel_of(io).schedule(1ms, [&] { called = true; });
    io.run();
    check(called, "the wheel of a context");
}

} // namespace

int main() {
    use<cogwheel::timer_wheel>("timer_wheel");
    use<cogwheel::local_timer_wheel>("local_timer_wheel");
    use<cogwheel::hierarchical_timer_wheel>("hierarchical_timer_wheel");
    use<cogwheel::basic_timer_wheel<std::chrono::steady_clock, cogwheel::single_threaded,
                                    cogwheel::hierarchical_wheel>>("local hierarchical wheel");
    use_manual_clock();
    use_wheel_of_context();
    return all_hold ? 0 : 1;
}
