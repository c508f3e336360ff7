// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When the driver wakes: for what is due, and for nothing else.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

std::uint64_t wakeups(virtual_wheel& w) { return w.wheel.stats().wakeups; }

/// Lets time pass tick by tick, so that every wake-up planned happens.
void tick_through(virtual_wheel& w, std::chrono::nanoseconds by, std::chrono::nanoseconds step = 10ms) {
    for (auto t = 0ns; t < by; t += step) w.pass(step);
}

} // namespace

TEST_CASE("driver_empty_wheel_never_wakes") {
    virtual_wheel w;
    tick_through(w, 1s);
    CHECK(w.wheel.stats().wakeups == 0);
    CHECK(w.wheel.stats().turns == 0);
    CHECK(w.io.stopped());
}

TEST_CASE("driver_one_far_timer_wakes_once") {
    virtual_wheel w({.tick = 10ms, .slots = 8});
    w.wheel.schedule(60s, [] {});
    tick_through(w, 59s);
    CHECK(wakeups(w) == 0);
    tick_through(w, 1s);
    CHECK(wakeups(w) == 1);
    CHECK(w.wheel.stats().turns == 1);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE("driver_timers_of_one_tick_share_a_wakeup") {
    virtual_wheel w;
    for (int i = 0; i < 500; ++i) w.wheel.schedule(41ms + i * 10us, [] {});
    tick_through(w, 1s);
    CHECK(w.wheel.stats().fired == 500);
    CHECK(wakeups(w) == 1);
}

TEST_CASE("driver_later_timer_scheduled_does_not_rearm_earlier_one_does") {
    virtual_wheel w;
    w.wheel.schedule(50ms, [] {});
    w.wheel.schedule(90ms, [] {});
    w.wheel.schedule(20ms, [] {});
    tick_through(w, 10ms);
    CHECK(wakeups(w) == 0);
    tick_through(w, 10ms);
    CHECK(wakeups(w) == 1);
    CHECK(w.wheel.stats().fired == 1);
    tick_through(w, 200ms);
    CHECK(wakeups(w) == 3);
    CHECK(w.wheel.stats().fired == 3);
}

TEST_CASE("driver_request_pattern_costs_at_most_a_wakeup_a_tick") {
    virtual_wheel w;
    for (int i = 0; i < 1000; ++i) {
        CHECK(w.wheel.schedule(30s, must_not_run()).cancel());
        w.pass(1ms);
    }
    CHECK(wakeups(w) <= 100);
}

TEST_CASE("driver_cancelled_timers_wake_nobody") {
    virtual_wheel w;
    w.wheel.schedule(10s, [] {});
    std::vector<manual_timer_wheel::token_type> tokens;
    for (int i = 1; i <= 100; ++i) tokens.push_back(w.wheel.schedule(i * 50ms, must_not_run()));
    for (auto& t : tokens) CHECK(t.cancel());
    tick_through(w, 9s);
    CHECK(wakeups(w) <= 1); // the one that was planned already
    tick_through(w, 1s);
    CHECK(w.wheel.stats().fired == 1);
    CHECK(wakeups(w) <= 2);
}

TEST_CASE("driver_timer_pushed_back_for_ever_costs_one_wakeup_per_its_delay") {
    virtual_wheel w;
    const auto token = w.wheel.schedule(1s, must_not_run());
    for (int i = 0; i < 1000; ++i) { // 10 s
        w.pass(10ms);
        CHECK(token.reschedule(1s));
    }
    CHECK(w.wheel.pending() == 1);
    CHECK(wakeups(w) >= 9);
    CHECK(wakeups(w) <= 11);
}

TEST_CASE("driver_thousand_timers_pushed_back_share_their_wakeups") {
    virtual_wheel w;
    std::vector<manual_timer_wheel::token_type> tokens;
    for (int i = 0; i < 1000; ++i) tokens.push_back(w.wheel.schedule(1s, must_not_run()));
    for (int i = 0; i < 100; ++i) { // 10 s
        w.pass(100ms);
        for (auto& t : tokens) CHECK(t.reschedule(1s));
    }
    CHECK(w.wheel.pending() == 1000);
    CHECK(wakeups(w) <= 11);
}

TEST_CASE("driver_overdue_timer_is_posted_not_waited_for") {
    virtual_wheel w;
    manual_clock::advance(1h);
    bool done = false;
    w.wheel.async_wait(0ms, must_complete({}, &done));
    w.run();
    CHECK(done);
    CHECK(wakeups(w) == 0);
    CHECK(w.wheel.stats().turns == 1);
    CHECK(w.io.stopped());
}
