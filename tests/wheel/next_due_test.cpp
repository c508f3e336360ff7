// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// next_due() is never late, exact where nothing was pushed back, and not moved by timers that are dead.
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

using namespace cogwheel_tests;
using cogwheel::tick;
using cogwheel::wheel_access;

namespace {
constexpr std::uint64_t nothing = ~std::uint64_t{0};
} // namespace

TEST_CASE_TEMPLATE("next_due_empty_wheel_is_nothing", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 3);
    CHECK(bench.next_due() == nothing);
    numbered_timer& t = bench.schedule(5);
    CHECK(bench.next_due() == 5);
    bench.wheel.cancel(t.node);
    CHECK(bench.next_due() == nothing);
}

TEST_CASE_TEMPLATE("next_due_is_exact_over_revolutions", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {1U, 4U, 512U}) {
        basic_wheel_fixture<Wheel> bench(slots);
        for (std::uint64_t i = 270; i > 0; --i) {
            bench.schedule(37 * i);
            CHECK(bench.next_due() == 37 * i);
        }
        for (std::uint64_t i = 1; i <= 270; ++i) {
            CHECK(bench.next_due() == 37 * i);
            CHECK(bench.advance(37 * i).fired == 1);
        }
        CHECK(bench.next_due() == nothing);
    }
}

TEST_CASE_TEMPLATE("next_due_dead_entries_wake_nobody", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {1U, 4U, 512U}) {
        basic_wheel_fixture<Wheel> bench(slots);
        bench.schedule(90'000);
        for (std::uint64_t i = 0; i < 1'000; ++i) bench.schedule(1 + i * 7);
        for (std::size_t i = 1; i <= 1'000; ++i) bench.wheel.cancel(bench.timers[i].node);
        CHECK(bench.next_due() == 90'000);
        CHECK(bench.wheel.entries() == 1);
        CHECK(bench.wheel.check_invariants() == nullptr);
    }
}

TEST_CASE_TEMPLATE("next_due_dead_entries_at_the_tick_of_a_live_one_do_not_hide_it", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    for (int i = 0; i < 300; ++i) bench.schedule(9);
    for (std::size_t i = 0; i < 300; ++i)
        if (i != 150) bench.wheel.cancel(bench.timers[i].node);
    CHECK(bench.next_due() == 9);
    CHECK(bench.advance(9).fired == 1);
}

// Later ones are passed by without a look at their nodes, so that the allowance lasts.
TEST_CASE_TEMPLATE("next_due_dead_entry_in_a_slot_of_many_later_ones_wakes_nobody", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    for (std::uint64_t i = 0; i < 20'000; ++i) bench.schedule(13 + 4 * i);
    bench.wheel.cancel(bench.schedule(9).node);
    CHECK(bench.next_due() == 13);
    CHECK(bench.wheel.check_invariants() == nullptr);
}

TEST_CASE_TEMPLATE("next_due_one_call_drops_a_bounded_number_of_dead_entries", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    constexpr std::size_t dead = 3 * wheel_access::confirm_limit;
    bench.schedule(100'000);
    for (std::size_t i = 0; i < dead; ++i) bench.schedule(9);
    for (std::size_t i = 1; i <= dead; ++i) bench.wheel.cancel(bench.timers[i].node);
    CHECK(bench.next_due() == 9);
    CHECK(bench.wheel.entries() >= dead - wheel_access::confirm_limit);
    CHECK(bench.wheel.check_invariants() == nullptr);
    while (bench.next_due() == 9) CHECK(bench.wheel.entries() > 1);
    CHECK(bench.next_due() == 100'000);
}

// Each tick of its own, many in one slot: to look at the whole slot for each of them would take seconds.
TEST_CASE_TEMPLATE("next_due_dead_entries_at_many_ticks_are_dropped_a_bounded_number_at_a_time", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {4U, 512U}) {
        CAPTURE(slots);
        basic_wheel_fixture<Wheel> bench(slots);
        constexpr std::size_t dead = 10 * wheel_access::confirm_limit;
        constexpr std::uint64_t far = 300'000;
        bench.schedule(far + dead);
        for (std::size_t i = 0; i < dead; ++i) bench.schedule(far + i);
        for (std::size_t i = 1; i <= dead; ++i) bench.wheel.cancel(bench.timers[i].node);
        std::size_t calls = 1, left = bench.wheel.entries();
        for (; bench.next_due() != far + dead; ++calls) {
            CHECK(bench.wheel.entries() + wheel_access::confirm_limit >= left);
            left = bench.wheel.entries();
            REQUIRE(calls < 1'000); // each drops many
        }
        CHECK(calls >= 10);
        CHECK(bench.wheel.check_invariants() == nullptr);
        CHECK(bench.advance(far + dead).fired == 1);
    }
}

TEST_CASE_TEMPLATE("next_due_pushed_back_timer_costs_one_early_call", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& t = bench.schedule(10);
    bench.wheel.reschedule(t.node, tick{17});
    bench.wheel.reschedule(t.node, tick{1'000});
    CHECK(bench.next_due() == 10);
    CHECK(bench.advance(10).fired == 0);
    CHECK(bench.next_due() == 1'000);
}

TEST_CASE_TEMPLATE("next_due_moved_earlier_is_exact", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& t = bench.schedule(1'000);
    for (std::uint64_t at = 900; at > 10; at -= 100) {
        bench.wheel.reschedule(t.node, tick{at});
        CHECK(bench.next_due() == at);
    }
    CHECK(bench.advance(100).fired == 1);
    CHECK(bench.next_due() == nothing);
}

TEST_CASE_TEMPLATE("next_due_beyond_the_horizon_comes_nearer_in_steps_of_it", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(512, 77);
    const std::uint64_t far = 77 + 3 * wheel_access::horizon + 5;
    bench.schedule(far);
    int steps = 0;
    for (std::uint64_t next = bench.next_due(); next != far; next = bench.next_due()) {
        CHECK(next == bench.wheel.now().value + wheel_access::horizon);
        CHECK(bench.advance(next).fired == 0);
        ++steps;
        REQUIRE(steps <= 3);
    }
    CHECK(steps == 3);
    CHECK(bench.advance(far - 1).fired == 0);
    CHECK(bench.advance(far).fired == 1);
}

TEST_CASE_TEMPLATE("next_due_inside_a_handler_is_now", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    bench.schedule(3).then = [&] { CHECK(bench.next_due() == 3); };
    bench.schedule(8);
    bench.advance(3);
    CHECK(bench.next_due() == 8);
}

TEST_CASE_TEMPLATE("next_due_leftover_of_the_nearer_half_of_the_way_is_not_taken_over", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& t = bench.schedule(10);
    bench.wheel.cancel(t.node);
    bench.wheel.schedule(t.node, tick{1'000});
    CHECK(bench.next_due() == 1'000);
    bench.wheel.cancel(t.node);
    bench.wheel.schedule(t.node, tick{1'200});
    CHECK(bench.wheel.entries() == 1); // the farther half's serves
    CHECK(bench.next_due() == 1'000);
    bench.advance(1'000);
    CHECK(bench.next_due() == 1'200);
}
