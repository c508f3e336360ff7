// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One factor on the wheel shortens all idle limits at once, those that are running included.
#include "support/asio/discarding_executor.hpp"
#include "support/net/idle_rig.hpp"

#include <cogwheel/net/overload_factor.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <limits>
#include <memory>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("factor_falls_running_limits_are_shorter_at_once", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    CHECK(overload_factor(r.wheel) == 1);
    r.wait();
    r.pass(2s);
    r.idle.touch();
    r.pass(1s);
    overload_factor(r.wheel, 0.5);
    CHECK(overload_factor(r.wheel) == 0.5);
    r.run();
    r.pass(3999ms);
    CHECK(r.log.size() == 0); // 5 s after the touch, not after the start
    r.pass(1ms);
    REQUIRE(r.log.size() == 1);
    CHECK(r.log.last().event.idle_for == 5s);
}

TEST_CASE_TEMPLATE("factor_falls_limits_set_meanwhile_are_shorter_too", Wheel, BOTH_WHEELS) {
    const auto first = [] {
        idle_timeouts limits;
        SUBCASE("none before") {}
        SUBCASE("shorter ones before") { limits.reader = 30s; }
        return limits;
    }();
    idle_rig<Wheel> r(first);
    r.wait();
    r.idle.set_limits({.reader = 60s});
    r.pass(1s);
    overload_factor(r.wheel, 0.2);
    r.run();
    r.pass(10'990ms);
    CHECK(r.log.size() == 0);
    r.pass(11ms);
    REQUIRE(r.log.size() == 1);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("factor_falls_those_who_are_beyond_the_limit_are_told", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    r.wait();
    r.pass(6s);
    overload_factor(r.wheel, 0.5);
    CHECK(r.log.size() == 0);
    r.run();
    r.pass(1ms);
    REQUIRE(r.log.size() == 1);
    CHECK(r.log.last().event.idle_for >= 6s);
}

TEST_CASE_TEMPLATE("factor_falls_the_shortened_longer_limit_may_come_first", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s, .all = 12s});
    r.wait();
    r.pass(1s);
    r.idle.touch_write();
    r.pass(4s);
    overload_factor(r.wheel, 0.5);
    r.run();
    r.pass(1ms);
    CHECK(r.log.last().event.kind == idle_kind::reader);
    r.wait();
    r.pass(2s); // all: 1 s + 6 s
    REQUIRE(r.log.size() == 2);
    CHECK(r.log.last().event.kind == idle_kind::all);
}

TEST_CASE_TEMPLATE("factor_rises_running_limits_are_longer_and_nothing_is_early", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    overload_factor(r.wheel, 0.1);
    r.wait();
    r.pass(500ms);
    overload_factor(r.wheel, 1);
    r.pass(9s);
    CHECK(r.log.size() == 0);
    r.pass(500ms);
    REQUIRE(r.log.size() == 1);
    CHECK(r.log.last().event.idle_for == 10s);
}

TEST_CASE_TEMPLATE("factor_falls_and_falls_again", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 100s});
    r.wait();
    for (const double f : {0.9, 0.8, 0.5, 0.7, 0.4}) {
        overload_factor(r.wheel, f);
        r.pass(1s);
    }
    CHECK(r.log.size() == 0);
    r.pass(35s - 1ms);
    CHECK(r.log.size() == 0);
    r.pass(1ms);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("factor_that_falls_in_small_steps_shortens_as_much", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s}, {.tick = 10ms});
    r.wait();
    for (int step = 1; step <= 1600; ++step) {
        overload_factor(r.wheel, 1 - 0.0005 * step);
        r.run();
    }
    r.pass(1990ms);
    CHECK(r.log.size() == 0);
    r.pass(20ms);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("factor_falls_the_event_is_a_tick_late_at_the_most", Wheel, BOTH_WHEELS) {
    for (int i = 1; i < 100; ++i) {
        CAPTURE(i);
        idle_rig<Wheel> r({.reader = 7001ms + i * 13ms}, {.tick = 100ms});
        r.pass(i * 7ms);
        r.idle.touch();
        r.wait();
        overload_factor(r.wheel, 0.5);
        r.run();
        const auto limit = (7001ms + i * 13ms) / 2;
        r.pass(limit - 1ms);
        CHECK(r.log.size() == 0);
        r.pass(102ms);
        CHECK(r.log.size() == 1);
    }
}

TEST_CASE_TEMPLATE("factor_with_thousands_of_monitors_is_worked_off_in_turns", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    Wheel wheel(io, {.tick = 1ms});
    constexpr std::size_t count = 5000;
    std::deque<std::optional<idle_monitor<Wheel>>> monitors;
    std::size_t events = 0;
    for (std::size_t i = 0; i < count; ++i) {
        monitors.emplace_back(std::in_place, wheel, idle_timeouts{.reader = 100s});
        monitors.back()->async_idle([&](std::error_code ec, idle_event) { events += !ec; });
    }
    overload_factor(wheel, 0.1);
    const auto turn = [&] {
        io.restart();
        return io.poll_one();
    };
    // While they are being visited, youngest first, those who come next move or go.
    turn();
    for (std::size_t i = 3500; i < 4500; ++i) {
        auto moved = std::move(*monitors[i]);
        monitors[i].reset();
        if (i % 2 == 0) monitors[i].emplace(std::move(moved));
    }
    int turns = 1;
    while (turn() != 0) ++turns;
    CHECK(turns >= 3);
    pass(io, 10s - 1ms);
    CHECK(events == 0);
    pass(io, 1ms);
    CHECK(events == count - 500);
    CHECK(wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("factor_set_while_a_walk_is_under_way_reaches_all", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    Wheel wheel(io, {.tick = 1ms});
    constexpr std::size_t count = 3000;
    std::deque<idle_monitor<Wheel>> monitors;
    std::size_t events = 0;
    for (std::size_t i = 0; i < count; ++i) {
        monitors.emplace_back(wheel, idle_timeouts{.reader = 100s});
        monitors.back().async_idle([&](std::error_code ec, idle_event) { events += !ec; });
    }
    overload_factor(wheel, 0.5);
    io.poll_one();
    overload_factor(wheel, 0.2);
    run_ready(io);
    pass(io, 20s);
    CHECK(events == count);
}

TEST_CASE_TEMPLATE("wheel_destroyed_while_a_walk_is_under_way", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    idle_log log;
    auto wheel = std::make_unique<Wheel>(io);
    auto idle = std::make_unique<idle_monitor<Wheel>>(*wheel, idle_timeouts{.reader = 10s});
    idle->async_idle(log.handler());
    overload_factor(*wheel, 0.5);
    wheel.reset();
    idle.reset();
    run_ready(io);
    CHECK(log.last_error() == asio::error::operation_aborted);
    Wheel next(io); // perhaps in the same place
    CHECK(overload_factor(next) == 1);
}

TEST_CASE("walk_destroyed_by_the_executor_the_next_one_shortens") {
    using discarding = discarding_executor;
    auto discard = discarding::nothing;
    asio::io_context io;
    idle_log log;
    manual_timer_wheel wheel(asio::any_io_executor(discarding(io, discard)));
    idle_monitor<manual_timer_wheel> idle(wheel, idle_timeouts{.reader = 10s});
    idle.async_idle(log.handler());
    SUBCASE("when its time comes") {
        overload_factor(wheel, 0.9);
        discard = discarding::when_its_time_comes;
        run_ready(io);
    }
    SUBCASE("at once") {
        discard = discarding::at_once;
        overload_factor(wheel, 0.9);
    }
    discard = discarding::nothing;
    overload_factor(wheel, 0.5);
    run_ready(io);
    pass(io, 5s);
    CHECK(log.size() == 1);
}

TEST_CASE("factor_out_of_range_is_refused_and_changes_nothing") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    overload_factor(wheel, 0.5);
    for (const double f : {0.0, -1.0, 1.1, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_WITH_AS(overload_factor(wheel, f), doctest::Contains("must be above 0 and at most 1"),
                             std::invalid_argument);
    CHECK(overload_factor(wheel) == 0.5);
}
