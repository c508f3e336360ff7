// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An advance does as much as its budget says, says whether more is left, and what it leaves stays pending.
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

using namespace cogwheel_tests;
using cogwheel::tick;
using cogwheel::work_budget;

TEST_CASE_TEMPLATE("advance_budget_of_n_expiries_fires_at_most_n", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t to : {std::uint64_t{3}, std::uint64_t{1'000}}) {
        for (const std::uint32_t n : {1U, 2U, 10U, 64U}) {
            basic_wheel_fixture<Wheel> bench(4);
            for (int i = 0; i < 200; ++i) bench.schedule(3);
            std::uint64_t total = 0;
            for (int turn = 0; turn < 1000; ++turn) {
                const auto result = bench.advance(to, work_budget::expiries(n));
                CHECK(result.fired <= n);
                total += result.fired;
                CHECK(bench.wheel.size() == 200 - total);
                if (!result.more) break;
                CHECK(bench.next_due() == to);
            }
            CHECK(total == 200);
        }
    }
}

TEST_CASE_TEMPLATE("advance_budget_of_overdue_timers_is_charged_too", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 50);
    for (int i = 0; i < 20; ++i) bench.schedule(0);
    CHECK(bench.advance(50, work_budget::expiries(5)).fired == 5);
    CHECK(bench.advance(50, work_budget::expiries(5)).more);
    CHECK(bench.advance(50).fired == 10);
    CHECK(!bench.advance(50).more);
}

TEST_CASE_TEMPLATE("advance_budget_pays_for_dead_entries_and_moves", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    for (int i = 0; i < 400; ++i) bench.schedule(3);
    bench.schedule(3);
    for (std::size_t i = 0; i < 200; ++i) bench.wheel.cancel(bench.timers[i].node);
    for (std::size_t i = 200; i < 400; ++i) bench.wheel.reschedule(bench.timers[i].node, tick{1'000});
    int turns = 0;
    while (bench.fired.empty() && turns < 1000) {
        bench.advance(3, {work_budget::entry * 10});
        ++turns;
    }
    CHECK(turns >= 30);
    CHECK(turns <= 50);
}

TEST_CASE_TEMPLATE("advance_leftover_timers_can_be_cancelled_and_moved", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    for (int i = 0; i < 4; ++i) bench.schedule(2);
    bench.advance(2, {1});
    bench.advance(2, {1});
    while (bench.fired.empty()) bench.advance(2, {1});
    std::vector<numbered_timer*> left;
    for (numbered_timer& t : bench.timers)
        if (t.node.armed()) left.push_back(&t);
    REQUIRE(left.size() == 3);
    bench.wheel.cancel(left[0]->node);
    bench.wheel.reschedule(left[1]->node, tick{6});
    CHECK(bench.advance(5).fired == 1);
    CHECK(bench.fired.back() == left[2]->number);
    CHECK(bench.advance(6).fired == 1);
    CHECK(bench.fired.back() == left[1]->number);
    CHECK(bench.wheel.size() == 0);
}

TEST_CASE_TEMPLATE("advance_budget_spent_does_nothing_and_loses_nothing", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    bench.schedule(2);
    const auto result = bench.advance(9, {0});
    CHECK(result.fired == 0);
    CHECK(result.more);
    CHECK(bench.advance(9).fired == 1);
}

TEST_CASE_TEMPLATE("advance_over_empty_revolutions_costs_one_small_budget", Wheel, EVERY_WHEEL) {
    // Eight hours of 10 ms, a timer at the end: a handful of turns of 64 units each, not one turn a revolution.
    basic_wheel_fixture<Wheel> bench(512);
    bench.schedule(2'880'000);
    int turns = 0;
    while (bench.fired.empty() && turns < 100) {
        bench.advance(2'880'000, {64});
        ++turns;
    }
    CHECK(turns <= 3);
}

TEST_CASE_TEMPLATE("far_timers_armed_behind_leftovers_are_found_again", Wheel, EVERY_WHEEL) {
    // Between the present and what has been walked to lies work left over; ticks are told apart all the same.
    constexpr std::uint64_t far = std::uint64_t{1} << 31;
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& t = bench.make();
    for (int i = 0; i < 8; ++i) bench.schedule(2);
    bench.advance(20, {1});
    REQUIRE(bench.wheel.size() != 0);
    bench.wheel.schedule(t.node, tick{far + 19});
    bench.wheel.cancel(t.node);
    for (int i = 0; i < 100; ++i) bench.advance(20, {1});
    CHECK(bench.wheel.check_invariants() == nullptr);
    bench.wheel.schedule(t.node, tick{far + 100});
    CHECK(bench.wheel.check_invariants() == nullptr);
    CHECK(bench.advance(far + 99).fired == 0);
    CHECK(bench.advance(far + 100).fired == 1);
}
