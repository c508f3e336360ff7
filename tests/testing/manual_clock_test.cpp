// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The clock that users turn in their own tests.
#include "support/asio/asio_backend.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <asio/post.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

#ifndef _LIBCPP_VERSION // libc++ 16 has no is_clock
static_assert(std::chrono::is_clock_v<manual_clock>);
#endif
static_assert(noexcept(manual_clock::now()));

TEST_CASE("now_stands_still_until_advanced") {
    const auto start = manual_clock::now();
    CHECK(manual_clock::now() == start);
    manual_clock::advance(5s);
    CHECK(manual_clock::now() - start == 5s);
    manual_clock::advance(-2s);
    CHECK(manual_clock::now() - start == 3s);
    manual_clock::advance(0s);
    CHECK(manual_clock::now() - start == 3s);
}

TEST_CASE("advance_runs_nothing_inline_posts_one_turn") {
    virtual_wheel w;
    int runs = 0;
    w.wheel.schedule(10ms, [&] { ++runs; });
    manual_clock::advance(10ms);
    CHECK(runs == 0);
    manual_clock::advance(1h); // the turn is posted already
    CHECK(handlers_ran(w.run(), 1));
    CHECK(runs == 1);
    CHECK(w.wheel.stats().wakeups == 1);
}

TEST_CASE("advance_short_of_the_deadline_wakes_nobody") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] {});
    CHECK(handlers_ran(w.pass(10ms - 1ns), 0));
    CHECK(w.wheel.pending() == 1);
    CHECK(handlers_ran(w.pass(1ns), 1));
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE("advance_several_wheels_on_several_contexts_each_is_woken") {
    virtual_wheel a, b;
    int runs = 0;
    a.wheel.schedule(10ms, [&] { ++runs; });
    b.wheel.schedule(20ms, [&] { ++runs; });
    manual_clock::advance(20ms);
    CHECK(handlers_ran(a.run(), 1));
    CHECK(runs == 1);
    CHECK(handlers_ran(b.run(), 1));
    CHECK(runs == 2);
}

TEST_CASE("wheel_starts_at_whatever_the_clock_shows") {
    manual_clock::advance(12'345ms + 678us);
    virtual_wheel w;
    const auto start = manual_clock::now();
    auto fired = start;
    w.wheel.schedule(10ms, [&] { fired = manual_clock::now(); });
    while (fired == start) w.pass(1ms);
    CHECK(fired - start == 10ms);
}

TEST_CASE("advance_in_a_handler_later_timers_fire_in_a_later_turn") {
    virtual_wheel w;
    int runs = 0;
    w.wheel.schedule(10ms, [&] { manual_clock::advance(1s); });
    w.wheel.schedule(500ms, [&] { ++runs; });
    w.pass(10ms);
    CHECK(runs == 1);
}

TEST_CASE("run_blocks_on_a_pending_timer_until_another_handler_advances") {
    virtual_wheel w;
    bool fired = false;
    w.wheel.schedule(5s, [&] { fired = true; });
    asio::post(w.io, [] { manual_clock::advance(5s); });
    w.io.restart();
    w.io.run(); // returns: nothing is left
    CHECK(fired);
}

TEST_CASE("next_wake_is_the_earliest_of_all_wheels") {
    virtual_wheel a, b;
    CHECK(!manual_clock::next_wake());
    const auto start = manual_clock::now();
    a.wheel.schedule(50ms, [] {});
    auto soon = b.wheel.schedule(20ms, [] {});
    CHECK(manual_clock::next_wake() == start + 20ms);
    manual_clock::advance(20ms);
    CHECK(manual_clock::next_wake() == start + 50ms); // the turn of b is posted
    b.run();
    soon = b.wheel.schedule(1ms, [] {});
    CHECK(manual_clock::next_wake() == start + 30ms); // the next tick
    soon.cancel();
    CHECK(manual_clock::next_wake() == start + 50ms);
}

TEST_CASE("run_until_idle_turns_the_clock_from_wake_to_wake") {
    virtual_wheel at({.tick = 10ms});
    const auto start = manual_clock::now();
    std::vector<manual_clock::duration> seen;
    const auto hours = [&](auto again, int left) -> void {
        seen.push_back(manual_clock::now() - start);
        if (left != 0) at.wheel.schedule(1h, [=] { again(again, left - 1); });
    };
    asio::post(at.io, [&] { hours(hours, 3); });
    CHECK(handlers_ran(run_until_idle(at.io), 1 + 3));
    CHECK(seen == std::vector<manual_clock::duration>{0h, 1h, 2h, 3h});
    CHECK(manual_clock::now() - start == 3h);
    CHECK(run_until_idle(at.io) == 0);
    CHECK(manual_clock::now() - start == 3h);
}

TEST_CASE("run_until_idle_ends_after_its_time_and_at_stop") {
    virtual_wheel at({.tick = 10ms});
    const auto start = manual_clock::now();
    int runs = 0;
    const auto for_ever = [&](auto again) -> void {
        ++runs;
        at.wheel.schedule(10ms, [=] { again(again); });
    };
    for_ever(for_ever);
    run_until_idle(at.io, 105ms);
    CHECK(runs == 1 + 10);
    CHECK(manual_clock::now() - start == 105ms);
    run_until_idle(at.io, -1s);
    CHECK(manual_clock::now() - start == 105ms);
    run_until_idle(at.io, 5ms); // the end of the time belongs to it
    CHECK(runs == 1 + 11);
    at.wheel.schedule(50ms, [&] { at.io.stop(); });
    run_until_idle(at.io);
    CHECK(manual_clock::now() - start == 160ms);
    at.wheel.cancel_all();
}

TEST_CASE("run_until_idle_leaves_a_context_that_may_run_on") {
    virtual_wheel at({.tick = 10ms});
    const auto start = manual_clock::now();
    int runs = 0;
    at.wheel.schedule(10ms, [&] { manual_clock::advance(2h); }); // a handler turns the clock itself
    at.wheel.schedule(5h, [&] { ++runs; });
    run_until_idle(at.io, 1h);
    CHECK(manual_clock::now() - start == 2h + 10ms);
    CHECK(runs == 0);
    CHECK(!at.io.stopped());
    manual_clock::advance(3h);
    CHECK(at.io.poll() == 1); // without restart()
    CHECK(runs == 1);
}
