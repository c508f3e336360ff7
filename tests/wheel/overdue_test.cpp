// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What is due when it is armed waits for the next advance, and never fires inline or in the one that is running.
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace cogwheel_tests;
using cogwheel::tick;

TEST_CASE_TEMPLATE("schedule_past_deadline_counts_as_now_and_fires_in_the_next_advance", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 100);
    for (const std::uint64_t deadline : {0U, 99U, 100U}) {
        numbered_timer& t = bench.schedule(deadline);
        CHECK(t.node.armed());
        CHECK(t.node.deadline().value == 100);
    }
    CHECK(bench.fired.empty());
    CHECK(bench.next_due() == 100);
    CHECK(bench.advance(100).fired == 3);
    CHECK(bench.fired == std::vector<int>{0, 1, 2});
}

TEST_CASE_TEMPLATE("schedule_from_a_handler_overdue_waits_for_the_next_advance", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& self = bench.schedule(1);
    self.then = [&] { bench.wheel.schedule(self.node, tick{0}); };
    for (int turn = 1; turn <= 5; ++turn) {
        const auto result = bench.advance(1);
        CHECK(result.fired == 1);
        CHECK(result.more);
        CHECK(bench.next_due() == 1);
    }
}

TEST_CASE_TEMPLATE("reschedule_sibling_that_is_due_to_the_past_waits_for_the_next_advance", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& first = bench.schedule(2);
    numbered_timer& other = bench.schedule(2);
    // Whichever fires first pushes the other one out of this turn.
    first.then = [&] {
        if (other.node.armed()) bench.wheel.reschedule(other.node, tick{1});
    };
    other.then = [&] {
        if (first.node.armed()) bench.wheel.reschedule(first.node, tick{1});
    };
    auto result = bench.advance(2);
    CHECK(result.fired == 1);
    CHECK(result.more);
    result = bench.advance(2);
    CHECK(result.fired == 1);
    CHECK(!result.more);
}

TEST_CASE_TEMPLATE("overdue_cancelled_does_not_fire_and_may_be_armed_again", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 10);
    numbered_timer& t = bench.schedule(3);
    bench.wheel.cancel(t.node);
    CHECK(bench.wheel.size() == 0);
    CHECK(bench.next_due() == ~std::uint64_t{0});
    bench.wheel.schedule(t.node, tick{12});
    CHECK(bench.advance(11).fired == 0);
    CHECK(bench.next_due() == 12);
    CHECK(bench.advance(12).fired == 1);
}

TEST_CASE_TEMPLATE("overdue_moved_later_fires_then_only", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 10);
    numbered_timer& t = bench.schedule(3);
    bench.wheel.reschedule(t.node, tick{12});
    CHECK(bench.next_due() == 12);
    CHECK(bench.advance(11).fired == 0);
    CHECK(bench.advance(12).fired == 1);
}

TEST_CASE_TEMPLATE("overdue_serial_wrap_loses_nothing", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t serial : {(1ULL << 32) - 3, (1ULL << 33) - 2, (1ULL << 62) - 3}) {
        basic_wheel_fixture<Wheel> bench(4, 10);
        cogwheel::wheel_access::set_overdue_serial(bench.wheel, serial);
        for (int i = 0; i < 6; ++i) bench.schedule(10);
        bench.wheel.cancel(bench.timers[2].node);
        CHECK(bench.wheel.check_invariants() == nullptr);
        CHECK(bench.advance(10).fired == 5);
        CHECK(bench.fired == std::vector<int>{0, 1, 3, 4, 5});
    }
}

TEST_CASE_TEMPLATE("overdue_armed_and_cancelled_for_ever_takes_no_memory", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    numbered_timer& other = bench.schedule(7);
    numbered_timer& t = bench.schedule(5);
    t.then = [&] {
        const auto again = [&](int times) {
            for (int i = 0; i < times; ++i) {
                bench.wheel.schedule(other.node, tick{0});
                bench.wheel.cancel(other.node);
                bench.wheel.schedule(t.node, tick{0});
                if (i % 2 == 0) bench.wheel.reschedule(t.node, tick{1});
                bench.wheel.cancel(t.node);
            }
        };
        bench.wheel.cancel(other.node);
        again(10);
        const std::size_t before = bench.wheel.footprint();
        again(10'000);
        CHECK(bench.wheel.footprint() == before);
        bench.wheel.schedule(other.node, tick{0});
    };
    CHECK(bench.advance(5).fired == 1);
    CHECK(bench.advance(5).fired == 1);
    CHECK(bench.fired == std::vector<int>{1, 0});
    CHECK(bench.wheel.check_invariants() == nullptr);
}

// Between two turns, as a handler does that reschedules two tokens to zero.
TEST_CASE_TEMPLATE("overdue_timers_touched_in_turn_take_bounded_memory", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 10);
    numbered_timer& a = bench.schedule(3);
    numbered_timer& b = bench.schedule(3);
    const auto bound = 2 * bench.wheel.size() + 1024 + 1;
    for (int i = 0; i < 20'000; ++i) {
        SUBCASE("rescheduled") {
            bench.wheel.reschedule(a.node, tick{5});
            bench.wheel.reschedule(b.node, tick{5});
        }
        SUBCASE("pushed back and brought forward") {
            bench.wheel.reschedule(a.node, tick{50});
            bench.wheel.reschedule(a.node, tick{5});
            bench.wheel.reschedule(b.node, tick{50});
            bench.wheel.reschedule(b.node, tick{5});
        }
        SUBCASE("cancelled and armed again") {
            bench.wheel.cancel(a.node);
            bench.wheel.schedule(a.node, tick{5});
            bench.wheel.cancel(b.node);
            bench.wheel.schedule(b.node, tick{5});
        }
        if (bench.wheel.entries() > 2 * bound) break;
    }
    CHECK(bench.wheel.entries() <= 2 * bound); // in slots and overdue
    CHECK(bench.wheel.entries() >= 2);         // those of overdue timers are among them
    CHECK(bench.wheel.check_invariants() == nullptr);
    CHECK(bench.advance(10).fired == 2);
    CHECK(bench.wheel.size() == 0);
}

TEST_CASE_TEMPLATE("overdue_many_touched_in_turn_stay_in_order_and_bounded", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 10);
    std::vector<numbered_timer*> all;
    for (int i = 0; i < 3'000; ++i) all.push_back(&bench.schedule(3));
    for (int round = 0; round < 20; ++round)
        for (numbered_timer* t : all) bench.wheel.reschedule(t->node, tick{5});
    CHECK(bench.wheel.entries() <= 2 * all.size() + 1024 + all.size());
    CHECK(bench.wheel.check_invariants() == nullptr);
    CHECK(bench.advance(10).fired == all.size());
    CHECK(std::is_sorted(bench.fired.begin(), bench.fired.end())); // the order of the last round
}

// One timer armed anew a turn, and one fired: not a chunk for each.
TEST_CASE_TEMPLATE("overdue_queue_that_moves_on_by_one_a_turn_stays_dense", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 10);
    for (int i = 0; i < 1'000; ++i) {
        numbered_timer& t = bench.schedule(3);
        t.then = [&] { bench.wheel.schedule(t.node, tick{3}); };
    }
    for (int turn = 0; turn < 5; ++turn) bench.advance(10, {1});
    const auto bytes = bench.wheel.footprint();
    for (int turn = 0; turn < 5'000; ++turn) REQUIRE(bench.advance(10, {1}).fired == 1);
    CHECK(bench.wheel.footprint() <= bytes + 64 * 512); // a group of chunks
    CHECK(bench.wheel.size() == 1'000);
}

TEST_CASE_TEMPLATE("overdue_swept_by_a_handler_none_is_left_out", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 10);
    std::vector<numbered_timer*> all;
    for (int i = 0; i < 20; ++i) all.push_back(&bench.schedule(3));
    numbered_timer &a = *all[10], &b = *all[11];
    all[5]->then = [&] { // the first of the queue are gone
        for (int i = 0; i < 3'000; ++i) {
            bench.wheel.reschedule(a.node, tick{5});
            bench.wheel.reschedule(b.node, tick{5});
        }
        CHECK(bench.wheel.check_invariants() == nullptr);
    };
    CHECK(bench.advance(10).fired == 18);
    CHECK(bench.advance(10).fired == 2);
    CHECK(bench.wheel.size() == 0);
}
