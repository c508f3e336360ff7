// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a falling factor costs beside its walk: the driver is armed once for all whose limits come sooner, not once for
// each.
#include "support/asio/failing_executor.hpp"
#include "support/asio/scripted_driver.hpp"

#include <cogwheel/net/idle_monitor.hpp>
#include <cogwheel/net/overload_factor.hpp>

#include <doctest/doctest.h>

#include <deque>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("overload_arming_factor_falls_one_arming_for_all") {
    asio::io_context io;
    scripted_wheel wheel(io);
    std::deque<idle_monitor<scripted_wheel>> monitors;
    int told = 0;
    for (int i = 0; i < 100; ++i) { // the walk meets the last to expire first
        monitors.emplace_back(wheel, idle_timeouts{.reader = 10s});
        monitors.back().async_idle([&](std::error_code, const idle_event&) { ++told; });
        pass_scripted(io, 20ms);
    }
    const int before = script::the().arms;
    overload_factor(wheel, 0.5);
    pass_scripted(io, 0s);
    CHECK(script::the().arms == before + 1);
    pass_scripted(io, 2990ms); // the first is 2 s old already
    CHECK(told == 0);
    pass_scripted(io, 20ms);
    CHECK(told == 1);
}

TEST_CASE("overload_arming_fails_for_all_then_they_come_at_their_old_time") {
    asio::io_context io;
    bool fail = false;
    scripted_wheel wheel(asio::any_io_executor(failing_executor(io, fail)));
    idle_monitor monitor(wheel, {.reader = 10s});
    int told = 0;
    monitor.async_idle([&](std::error_code, const idle_event&) { ++told; });
    wheel.schedule(10ms, [&] { fail = script::the().fail = true; });
    CHECK_THROWS_AS(pass_scripted(io, 20ms), std::bad_alloc); // nothing is planned after that
    fail = false;
    overload_factor(wheel, 0.5);
    fail = true;
    pass_scripted(io, 0s);
    fail = script::the().fail = false;
    CHECK(wheel.schedule(1h, [] {})); // brings the turn that was lost
    pass_scripted(io, 6s);
    CHECK(told == 0);
    pass_scripted(io, 4s);
    CHECK(told == 1);
}
