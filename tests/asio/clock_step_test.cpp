// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Clocks that jump: far ahead is cheap and fires all once, back is waited for.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <algorithm>
#include <functional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("jump_of_eight_hours_all_fire_once_in_order_in_one_turn") {
    virtual_wheel w({.tick = 1ms});
    std::vector<int> order;
    for (int i = 0; i < 600; ++i)
        w.wheel.schedule((i * 37 % 600) * 40s, [&order, i] { order.push_back(i * 37 % 600); });
    w.wheel.schedule(9h, must_not_run());
    w.pass(8h);
    CHECK(order.size() == 600);
    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK(w.wheel.stats().turns <= 3); // not one per tick
    CHECK(w.wheel.pending() == 1);
}

TEST_CASE("jump_with_nothing_due_does_not_wake") {
    virtual_wheel w;
    w.wheel.schedule(24h, must_not_run());
    w.pass(8h);
    CHECK(w.wheel.stats().wakeups == 0);
}

TEST_CASE("idle_for_hours_next_timer_is_on_time") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] {});
    w.pass(10ms);
    manual_clock::advance(8h);
    bool done = false;
    w.wheel.async_wait(50ms, must_complete({}, &done));
    w.pass(49ms);
    CHECK_FALSE(done);
    w.pass(1ms + 10ms);
    CHECK(done);
}

TEST_CASE("step_back_pending_timers_wait_for_the_clock") {
    virtual_wheel w;
    bool done = false;
    w.wheel.async_wait(100ms, must_complete({}, &done));
    w.pass(90ms);
    w.pass(-60ms);
    for (int i = 0; i < 6; ++i) {
        w.pass(10ms);
        CHECK_FALSE(done);
    }
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE("step_back_new_timer_is_not_early") {
    virtual_wheel w;
    w.wheel.schedule(100ms, [] {});
    w.pass(100ms);
    w.pass(-8h);
    int runs = 0;
    w.wheel.schedule(50ms, [&] { ++runs; });
    const auto at = manual_clock::now() + 70ms;
    w.wheel.schedule(at, [&] {
        ++runs;
        CHECK(manual_clock::now() >= at);
    });
    for (int i = 0; i < 5; ++i) {
        w.run();
        CHECK(runs == 0);
        w.pass(9ms);
    }
    w.pass(8h + 100ms);
    CHECK(runs == 2);
}

TEST_CASE("step_back_timer_rearming_itself_does_not_spin") {
    virtual_wheel w;
    w.wheel.schedule(100ms, [] {});
    w.pass(100ms);
    w.pass(-1h);
    int runs = 0;
    std::function<void()> rearm = [&] {
        if (++runs < 50) w.wheel.schedule(10ms, rearm);
    };
    w.wheel.schedule(10ms, rearm);
    w.run();
    CHECK(runs == 0);
    w.pass(1h + 10ms);
    CHECK(runs == 1);
    w.pass(10ms);
    CHECK(runs == 2);
    w.wheel.cancel_all();
}

TEST_CASE("step_back_zero_delay_still_fires_in_the_next_turn") {
    virtual_wheel w;
    w.wheel.schedule(100ms, [] {});
    w.pass(100ms);
    manual_clock::advance(-1h);
    bool done = false;
    w.wheel.async_wait(0ms, must_complete({}, &done));
    w.run();
    CHECK(done);
    manual_clock::advance(1h);
}

namespace {

/// Its steps wake no wheel, unlike those of manual_clock.
struct clock_that_is_set {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock_that_is_set>;
    static constexpr bool is_steady = false;
    static inline duration offset{};
    static time_point now() noexcept {
        return time_point(std::chrono::steady_clock::now().time_since_epoch() + offset);
    }
};

} // namespace

TEST_CASE("step_forward_timer_without_delay_does_not_wait_for_the_driver") {
    asio::io_context io;
    basic_timer_wheel<clock_that_is_set, multi_threaded> wheel(io);
    wheel.schedule(2h, [] {});
    run_ready(io); // the driver waits for two hours
    clock_that_is_set::offset += 3h;
    bool fired = false;
    wheel.schedule(0ms, [&] { fired = true; });
    for (int i = 0; i < 3; ++i) run_ready(io);
    CHECK(fired);
    CHECK(wheel.pending() == 0);
}
