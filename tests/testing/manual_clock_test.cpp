// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The clock that users turn in their own tests.
#include "support/virtual_wheel.hpp"

#include <asio/post.hpp>
#include <doctest/doctest.h>

#include <memory>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

static_assert(std::chrono::is_clock_v<manual_clock>);
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
    CHECK(w.run() == 1);
    CHECK(runs == 1);
    CHECK(w.wheel.stats().wakeups == 1);
}

TEST_CASE("advance_short_of_the_deadline_wakes_nobody") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] {});
    CHECK(w.pass(10ms - 1ns) == 0);
    CHECK(w.pass(1ns) == 1);
}

TEST_CASE("advance_several_wheels_on_several_contexts_each_is_woken") {
    virtual_wheel a, b;
    int runs = 0;
    a.wheel.schedule(10ms, [&] { ++runs; });
    b.wheel.schedule(20ms, [&] { ++runs; });
    manual_clock::advance(20ms);
    CHECK(a.run() == 1);
    CHECK(runs == 1);
    CHECK(b.run() == 1);
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
