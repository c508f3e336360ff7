// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Earlier ticks fire before later ones: within a revolution, across a jump of any length, overdue timers in between.
#include "support/random.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cogwheel_tests;

namespace {

// Arms `count` timers within `range` ticks, goes there in one step, and expects the order of ticks.
template <class Wheel>
void expect_order(std::size_t slots, std::uint64_t start, std::uint64_t range, std::size_t count) {
    CAPTURE(slots);
    CAPTURE(start);
    CAPTURE(range);
    basic_wheel_fixture<Wheel> bench(slots, start);
    random_source random(range);
    for (std::size_t i = 0; i < count; ++i) bench.schedule(start + 1 + random.below(range));
    const auto result = bench.advance(start + range);
    CHECK(result.fired == count);
    CHECK(!result.more);
    CHECK(bench.wheel.size() == 0);
    const auto tick_of = [&](int number) { return bench.timers[static_cast<std::size_t>(number)].node.deadline(); };
    CHECK(
        std::is_sorted(bench.fired.begin(), bench.fired.end(), [&](int a, int b) { return tick_of(a) < tick_of(b); }));
}

} // namespace

TEST_CASE_TEMPLATE("advance_over_any_distance_fires_in_order_of_ticks", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {1U, 4U, 512U})
        for (const std::uint64_t start : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 100, std::uint64_t{1} << 62})
            for (const std::uint64_t range : {1ULL, 3ULL, 4ULL, 5ULL, 255ULL, 512ULL, 513ULL, 70'000ULL, 2'880'000ULL,
                                              (1ULL << 31) + 7, (1ULL << 32) - 1, 1ULL << 32, 1ULL << 40})
                expect_order<Wheel>(slots, start, range, 300);
}

TEST_CASE_TEMPLATE("advance_in_steps_over_more_than_a_revolution_fires_each_at_its_tick", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    for (std::uint64_t t = 1; t <= 40; ++t) bench.schedule(t);
    for (std::uint64_t t = 1; t <= 40; ++t) {
        bench.advance(t);
        CHECK(bench.take_fired() == std::vector<int>{static_cast<int>(t) - 1});
    }
}

TEST_CASE_TEMPLATE("advance_overdue_fires_after_its_tick_and_before_later_ones", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    bench.schedule(3); // 0
    bench.schedule(5); // 1
    bench.advance(2);
    bench.schedule(1);     // 2: counts as 2
    bench.advance(4, {1}); // fires one: the overdue one, for 2 < 3
    CHECK(bench.take_fired() == std::vector<int>{2});
    bench.schedule(4); // 3: overdue, counts as 4
    bench.advance(5);
    CHECK(bench.take_fired() == std::vector<int>{0, 3, 1});
}

TEST_CASE_TEMPLATE("advance_overdue_across_a_jump_keeps_its_place", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    bench.schedule(10);      // 0
    bench.schedule(1'000);   // 1
    bench.schedule(100'000); // 2
    bench.advance(500, {1}); // walks or jumps, fires at most one
    bench.schedule(7);       // 3: counts as 500
    bench.advance(500'000);
    bench.advance(500'000);
    CHECK(bench.fired == std::vector<int>{0, 3, 1, 2});
}

TEST_CASE_TEMPLATE("advance_backward_is_waited_for", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(8, 100);
    bench.schedule(101);
    CHECK(bench.advance(50).fired == 0);
    CHECK(bench.wheel.now().value == 100);
    CHECK(bench.advance(101).fired == 1);
}

TEST_CASE_TEMPLATE("advance_eight_hours_with_timers_beyond_leaves_them", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(512);
    constexpr std::uint64_t eight_hours = 2'880'000;
    for (std::uint64_t i = 0; i < 200; ++i) bench.schedule(eight_hours + 1 + i * 37);
    bench.schedule(eight_hours);
    CHECK(bench.advance(eight_hours).fired == 1);
    CHECK(bench.next_due() == eight_hours + 1);
    CHECK(bench.wheel.check_invariants() == nullptr);
    CHECK(bench.advance(2 * eight_hours).fired == 200);
}
