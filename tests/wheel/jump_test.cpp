// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A jump, an advance by more than a revolution, works in slices within its budget. Every operation is legal in between.
#include "support/random.hpp"
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <cogwheel/wheel/detail/entry_jump.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace cogwheel_tests;
using cogwheel::tick;
using cogwheel::wheel_access;
using cogwheel::work_budget;

namespace {

/// Timers due at random ticks of [1, range], and the deadline of the last one that fired.
template <class Wheel>
struct jump_bench : basic_wheel_fixture<Wheel> {
    random_source random{11};
    std::uint64_t range;

    jump_bench(std::size_t slots, std::size_t count, std::uint64_t last)
        : basic_wheel_fixture<Wheel>(slots), range(last) {
        for (std::size_t i = 0; i < count; ++i) this->schedule(1 + random.below(range));
    }

    /// Advances in slices until a timer has fired. Returns the number of slices.
    std::size_t until_first_fires(std::uint64_t to, work_budget budget) {
        std::size_t slices = 0;
        while (this->fired.empty() && slices++ < 100'000) {
            CHECK(this->advance(to, budget).more);
            CHECK(this->next_due() == this->wheel.now().value);
        }
        return slices;
    }

    bool in_order() const {
        const auto tick_of = [&](int i) { return this->timers[static_cast<std::size_t>(i)].node.deadline(); };
        return std::is_sorted(this->fired.begin(), this->fired.end(),
                              [&](int a, int b) { return tick_of(a) < tick_of(b); });
    }
};

} // namespace

TEST_CASE_TEMPLATE("jump_looks_at_no_more_timers_than_its_budget_pays_for", Wheel, EVERY_WHEEL) {
    constexpr std::size_t timers = 20'000;
    constexpr std::int64_t units = 1000;
    jump_bench<Wheel> bench(4, timers, 900'000);
    const std::size_t slices = bench.until_first_fires(1'000'000, {units});
    CHECK(slices >= timers * 2 * work_budget::entry / units);
    CHECK(slices <= timers * 4 * work_budget::entry / units);
    std::size_t calls = 0;
    for (; bench.wheel.size() != 0; ++calls)
        CHECK(bench.advance(1'000'000, {units}).fired <= 1 + units / work_budget::expiry);
    CHECK(calls <= 2 * timers * work_budget::expiry / units);
    CHECK(bench.fired.size() == timers);
    CHECK(bench.in_order());
}

TEST_CASE_TEMPLATE("jump_timers_that_stay_are_moved_within_the_budget_too", Wheel, EVERY_WHEEL) {
    constexpr std::size_t timers = 5000;
    basic_wheel_fixture<Wheel> bench(4);
    for (std::uint64_t i = 0; i < timers; ++i) bench.schedule(100'000 + i % 4096);
    bench.schedule(90'000);
    std::size_t slices = 1;
    for (; bench.advance(99'999, {100}).more && slices < 100'000; ++slices)
        if (slices % 50 == 0) CHECK(bench.wheel.check_invariants() == nullptr);
    CHECK(slices >= timers / 4 * work_budget::entry / 100); // a wheel of one level visits one of four slots only
    CHECK(bench.fired.size() == 1);
    CHECK(bench.next_due() == 100'000);
}

TEST_CASE_TEMPLATE("jump_fires_what_remains_although_all_that_can_change_changes_between_its_slices", Wheel,
                   EVERY_WHEEL) {
    for (const std::uint64_t range : {std::uint64_t{60}, std::uint64_t{70'000}, std::uint64_t{1} << 45}) {
        for (const std::uint32_t limit : {1U, 16U, 1024U}) {
            CAPTURE(range);
            CAPTURE(limit);
            jump_bench<Wheel> bench(8, 600, range);
            wheel_access::set_sort_limit(bench.wheel, limit);
            const std::uint64_t to = range + 5;
            std::size_t expected = 600, later = 0;
            bool more = true;
            for (std::size_t slice = 0; more && slice < 100'000; ++slice) {
                more = bench.advance(to, {40}).more;
                CHECK(bench.wheel.check_invariants() == nullptr);
                CHECK_FALSE((more && bench.wheel.trim()));
                numbered_timer& t = bench.timers[bench.random.below(600u)];
                if (!t.node.armed() || t.node.deadline().value > to) continue;
                switch (slice % 3) {
                case 0:
                    bench.wheel.cancel(t.node);
                    --expected;
                    break;
                case 1: // its entry is found on the way, and the timer moves on
                    bench.wheel.reschedule(t.node, tick{to + 1 + bench.random.below(100)});
                    ++later;
                    break;
                default: // the node's next timer; an entry of the old one is still on its way
                    bench.wheel.cancel(t.node);
                    bench.wheel.schedule(t.node, tick{to + 1 + bench.random.below(100)});
                    ++later;
                }
                CHECK(bench.wheel.check_invariants() == nullptr);
            }
            CHECK(bench.wheel.size() == later);
            CHECK(bench.fired.size() == expected - later);
            CHECK(bench.in_order());
            bench.advance(to + 100);
            CHECK(bench.fired.size() == expected);
            CHECK(bench.in_order());
        }
    }
}

TEST_CASE_TEMPLATE("jump_timers_armed_meanwhile_fire_after_it_at_their_tick", Wheel, EVERY_WHEEL) {
    jump_bench<Wheel> bench(8, 300, 5000);
    std::size_t armed = 0;
    while (bench.advance(5000, {30}).more) {
        bench.schedule(5001 + armed++ % 50);               // in slots that the jump may not have reached
        if (armed % 4 == 0) bench.schedule(4000), ++armed; // overdue: counts as 5000
        CHECK(bench.wheel.check_invariants() == nullptr);
        if (armed > 600) break;
    }
    bench.advance(5000);
    while (bench.advance(5000).more) {
    }
    const std::size_t overdue = bench.fired.size() - 300;
    CHECK(overdue > 20);
    CHECK(bench.in_order());
    for (std::uint64_t at = 5001; at <= 5050; ++at) {
        CHECK(bench.next_due() == at);
        bench.advance(at);
    }
    CHECK(bench.wheel.size() == 0);
    CHECK(bench.in_order());
}

TEST_CASE_TEMPLATE("jump_unfinished_then_a_later_tick_is_told", Wheel, EVERY_WHEEL) {
    jump_bench<Wheel> bench(8, 2000, 100'000);
    bool more = true;
    for (std::uint64_t to = 20'000; more || to <= 100'000; to += 7) {
        more = bench.advance(std::min<std::uint64_t>(to, 100'000), {50}).more;
        if (to % 64 == 0) CHECK(bench.wheel.check_invariants() == nullptr);
    }
    CHECK(bench.fired.size() == 2000);
    CHECK(bench.in_order());
}

TEST_CASE_TEMPLATE("jump_unfinished_then_all_timers_are_cleared", Wheel, EVERY_WHEEL) {
    for (const int slices : {1, 20, 200}) {
        jump_bench<Wheel> bench(8, 300, 5000);
        wheel_access::set_sort_limit(bench.wheel, 4);
        for (int i = 0; i < slices; ++i) CHECK(bench.advance(5000, {20}).more);
        const std::size_t fired = bench.fired.size();
        std::size_t cleared = 0;
        bench.wheel.clear([&](cogwheel::timer_node&) { ++cleared; });
        CHECK(cleared == 300 - fired);
        CHECK(bench.wheel.entries() == 0);
        CHECK(bench.wheel.check_invariants() == nullptr);
        CHECK(!bench.wheel.next_due());
        bench.schedule(5003);
        CHECK(bench.wheel.trim());
        CHECK(bench.advance(5002).fired == 0);
        CHECK(bench.advance(5003).fired == 1);
    }
}

TEST_CASE_TEMPLATE("jump_unfinished_due_counts_all_that_is_left", Wheel, EVERY_WHEEL) {
    jump_bench<Wheel> bench(8, 400, 5000);
    wheel_access::set_sort_limit(bench.wheel, 4);
    bench.schedule(6000);
    while (bench.advance(5000, {30}).more) {
        CHECK(bench.wheel.due(tick{5000}, 100'000) == 400 - bench.fired.size());
        CHECK(bench.wheel.due(tick{6000}, 100'000) == 401 - bench.fired.size());
    }
    CHECK(bench.fired.size() == 400);
}

TEST_CASE_TEMPLATE("jump_entries_stay_bounded_while_it_gathers", Wheel, EVERY_WHEEL) {
    constexpr std::size_t timers = 4000;
    jump_bench<Wheel> bench(64, timers, 5000);
    bench.advance(6000, {10});
    REQUIRE(wheel_access::gathering(bench.wheel));
    for (std::size_t i = 0; i < 20 * timers; ++i) { // each to an earlier tick: a new entry
        cogwheel::timer_node& node = bench.timers[i % timers].node;
        const bool anew = i / timers % 2 != 0;
        if (anew) bench.wheel.cancel(node);
        if (anew)
            bench.wheel.schedule(node, tick{1'000'000 - i});
        else
            bench.wheel.reschedule(node, tick{1'000'000 - i});
        if (i % 1000 == 0) CHECK(bench.wheel.check_invariants() == nullptr);
    }
    CHECK(bench.wheel.check_invariants() == nullptr);
    CHECK(bench.wheel.entries() <=
          2 * timers + timers / 8 + wheel_access::garbage_slack + wheel_access::all_slots(bench.wheel) + 128);
    CHECK(bench.advance(999'999 - timers).fired + bench.advance(1'000'000).fired == timers);
    CHECK(bench.in_order());
}

TEST_CASE("due_buckets_give_back_all_entries_in_order_of_their_digits") {
    using namespace cogwheel::detail;
    random_source random(5);
    for (const std::uint64_t end : {1ULL, 2ULL, 256ULL, 257ULL, 100'000ULL, 1ULL << 40, 1ULL << 63}) {
        chunk_pool pool;
        due_buckets due;
        std::vector<std::uint64_t> distances;
        due.begin(end);
        for (std::uint32_t i = 0; i < 300; ++i) {
            distances.push_back(random.below(end));
            due.add(pool, {i, 0}, distances.back());
        }
        std::vector<std::uint64_t> taken;
        while (!due.empty()) {
            unsigned bits = 0;
            entry_chain bucket = due.take(bits);
            if (bits == 0) {
                bucket.for_each([&](entry e) { taken.push_back(distances[e.index]); });
            } else {
                due.split();
                CHECK(due.bits() == bits);
                bucket.for_each([&](entry e) { due.add(pool, e, distances[e.index]); });
            }
            bucket.give_to(pool);
        }
        CAPTURE(end);
        std::sort(distances.begin(), distances.end());
        CHECK(taken == distances);
    }
}
