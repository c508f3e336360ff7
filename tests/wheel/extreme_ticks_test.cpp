// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The first and the last ticks, and those around which a 31, 32 or 63-bit counter would wrap.
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

using namespace cogwheel_tests;
using cogwheel::tick;

namespace {
constexpr std::uint64_t last_tick = tick::max().value;
} // namespace

TEST_CASE_TEMPLATE("advance_around_every_wrap_fires_at_the_very_tick", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t wrap : {1ULL << 31, 1ULL << 32, (1ULL << 31) + (1ULL << 32), 1ULL << 33, 1ULL << 62}) {
        for (const std::size_t slots : {1U, 4U, 512U}) {
            CAPTURE(wrap);
            CAPTURE(slots);
            basic_wheel_fixture<Wheel> bench(slots, wrap - 10);
            for (std::uint64_t t = wrap - 9; t <= wrap + 10; ++t) bench.schedule(t);
            for (std::uint64_t t = wrap - 9; t <= wrap + 10; ++t) {
                CHECK(bench.next_due() == t);
                bench.advance(t);
                CHECK(bench.fired.size() == t - (wrap - 10));
                CHECK(bench.wheel.check_invariants() == nullptr);
            }
        }
    }
}

TEST_CASE_TEMPLATE("schedule_the_last_tick_fires_there_and_not_before", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t start :
         {std::uint64_t{0}, std::uint64_t{1}, last_tick / 2, last_tick - 600, last_tick - 1}) {
        basic_wheel_fixture<Wheel> bench(4, start);
        bench.schedule(last_tick);
        CHECK(bench.advance(last_tick - 1).fired == 0);
        CHECK(bench.wheel.size() == 1);
        CHECK(bench.wheel.check_invariants() == nullptr);
        CHECK(bench.next_due() == last_tick);
        CHECK(bench.advance(last_tick).fired == 1);
        CHECK(bench.next_due() == ~std::uint64_t{0});
    }
}

TEST_CASE_TEMPLATE("schedule_at_the_end_of_time_is_overdue", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, last_tick);
    bench.schedule(last_tick);
    bench.schedule(0);
    CHECK(bench.next_due() == last_tick);
    CHECK(bench.advance(last_tick).fired == 2);
    CHECK(!bench.advance(last_tick).more);
}

TEST_CASE_TEMPLATE("schedule_tick_zero_is_overdue_at_the_start", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    bench.schedule(0);
    CHECK(bench.next_due() == 0);
    CHECK(bench.advance(0).fired == 1);
    bench.schedule(1);
    CHECK(bench.advance(0).fired == 0);
    CHECK(bench.advance(1).fired == 1);
}

TEST_CASE_TEMPLATE("advance_from_the_first_tick_to_the_last_fires_everything_in_order", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(8);
    std::uint64_t at = 1;
    for (int i = 0; i < 62; ++i, at <<= 1) bench.schedule(at + 1);
    bench.schedule(last_tick);
    bench.advance(last_tick);
    REQUIRE(bench.fired.size() == 63);
    for (int i = 0; i < 63; ++i) CHECK(bench.fired[static_cast<std::size_t>(i)] == i);
}

TEST_CASE_TEMPLATE("deadlines_exactly_32_bits_apart_are_told_apart", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    bench.schedule(5);
    bench.schedule(5 + (1ULL << 32));
    bench.schedule(5 + (1ULL << 33));
    CHECK(bench.advance(5).fired == 1);
    CHECK(bench.advance(4 + (1ULL << 32)).fired == 0);
    CHECK(bench.advance(5 + (1ULL << 32)).fired == 1);
    CHECK(bench.advance(4 + (1ULL << 33)).fired == 0);
    CHECK(bench.advance(5 + (1ULL << 33)).fired == 1);
}

TEST_CASE_TEMPLATE("cancelled_life_32_bits_ago_does_not_lend_its_entry", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& t = bench.schedule(5);
    bench.wheel.cancel(t.node);
    bench.wheel.schedule(t.node, tick{5 + (1ULL << 32)});
    CHECK(bench.wheel.check_invariants() == nullptr);
    bench.advance(3);
    bench.advance((1ULL << 32) + 4);
    CHECK(bench.fired.empty());
    CHECK(bench.advance((1ULL << 32) + 5).fired == 1);
}
