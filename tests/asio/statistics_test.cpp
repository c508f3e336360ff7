// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// stats(): every count exact at every moment, also inside handlers.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("stats_every_path_counts_once") {
    virtual_wheel w({.max_pending = 4});
    w.wheel.async_wait(10ms, must_complete());
    w.wheel.async_wait(1h, must_abort());
    CHECK(w.wheel.schedule(1h, must_not_run()).cancel());
    const auto told = w.wheel.schedule(1h, must_not_run(), on_cancel([] {}));
    CHECK(told.cancel());
    w.wheel.schedule(10ms, [&] { CHECK(counts_agree(w.wheel.stats())); });
    w.wheel.schedule(1h, must_not_run());
    w.wheel.async_wait(1h, must_complete(errc::too_many_timers));
    wheel_stats s = w.wheel.stats();
    CHECK(s.scheduled == 6);
    CHECK(s.cancelled == 2);
    CHECK(s.rejected == 1);
    CHECK(s.pending == 4);
    CHECK(s.fired == 0);
    w.pass(10ms);
    w.wheel.stop();
    w.run();
    s = w.wheel.stats();
    CHECK(s.scheduled == 6);
    CHECK(s.fired == 2);
    CHECK(s.cancelled == 4);
    CHECK(s.pending == 0);
    CHECK(s.rejected == 1);
}

TEST_CASE("stats_in_a_handler_its_own_timer_counts_as_fired") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [&] {
        const wheel_stats s = w.wheel.stats();
        CHECK(s.fired == 1);
        CHECK(s.pending == 0);
        CHECK(s.turns == 1);
    });
    w.pass(10ms);
}

TEST_CASE("lateness_on_time_is_zero") {
    virtual_wheel w;
    for (int i = 0; i < 10; ++i) {
        w.wheel.schedule(10ms, [] {});
        w.pass(10ms);
    }
    CHECK(w.wheel.stats().lateness.max == 0ns);
    CHECK(w.wheel.stats().lateness.p99 == 0ns);
}

TEST_CASE("lateness_busy_loop_is_measured_from_the_due_tick") {
    virtual_wheel w;
    for (int i = 0; i < 99; ++i) w.wheel.schedule(10ms, [] {});
    w.pass(10ms);
    w.wheel.schedule(10ms, [] {});
    w.pass(10ms + 7ms);
    const auto lateness = w.wheel.stats().lateness;
    CHECK(lateness.p50 == 0ns);
    CHECK(lateness.p99 == 0ns);
    CHECK(lateness.max == 7ms);
}

TEST_CASE("lateness_overdue_when_set_is_less_than_a_tick") {
    virtual_wheel w;
    manual_clock::advance(1h + 3ms); // idle: that is nobody's lateness
    w.wheel.schedule(0ms, [] {});
    w.wheel.schedule(-1s, [] {});
    w.run();
    CHECK(w.wheel.stats().fired == 2);
    CHECK(w.wheel.stats().lateness.max < 10ms);
}

TEST_CASE("largest_turn_is_that_of_the_largest") {
    virtual_wheel w;
    for (const int burst : {3, 17, 5}) {
        for (int i = 0; i < burst; ++i) w.wheel.schedule(10ms, [] {});
        w.pass(10ms);
    }
    CHECK(w.wheel.stats().largest_turn == 17);
    CHECK(w.wheel.stats().wakeups == 3);
}
