// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a wheel tells of its entries, slots and levels, against what a script put there.
#include <cogwheel/wheel/detail/level_census.hpp>
#include <cogwheel/wheel/hashed_wheel.hpp>
#include <cogwheel/wheel/hierarchical_wheel.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

using namespace cogwheel;

static_assert(detail::counted_wheel<hashed_wheel>);
static_assert(detail::counted_wheel<hierarchical_wheel>);

namespace {

constexpr std::size_t no_limit = ~std::size_t{0};

/// A wheel with timers that count how many of them fire.
template <class Wheel>
struct census_bench {
    node_table nodes;
    Wheel wheel;
    std::vector<std::unique_ptr<timer_node>> timers;
    int fired = 0;

    template <class... Args>
    explicit census_bench(const Args&... args) : wheel(nodes, args...) {}
    ~census_bench() {
        wheel.clear([](timer_node&) {});
        for (auto& t : timers) nodes.detach(*t);
    }

    timer_node& add(std::uint64_t due) {
        timers.push_back(
            std::make_unique<timer_node>([](timer_node&, void* bench) { ++static_cast<census_bench*>(bench)->fired; }));
        nodes.attach(*timers.back());
        wheel.schedule(*timers.back(), tick{due});
        return *timers.back();
    }
    advance_result advance(std::uint64_t to, work_budget budget = work_budget::unlimited()) {
        return wheel.advance(tick{to}, budget, this);
    }
    detail::level_census census(std::size_t level) const {
        detail::level_census c;
        CHECK_FALSE(wheel.count_slots(level, 0, wheel_levels::max_slots, c));
        return c;
    }
    std::size_t due(std::uint64_t at, std::size_t limit = no_limit) const { return wheel.due(tick{at}, limit); }
};

} // namespace

TEST_CASE("census_counts_slots_and_the_fullest") {
    census_bench<hashed_wheel> b(8U);
    CHECK(b.census(0).occupied == 0);
    for (const std::uint64_t due : {1U, 2U, 2U, 2U, 9U, 5U}) b.add(due);
    const detail::level_census c = b.census(0);
    CHECK(c.slots == 8);
    CHECK(c.slot_ticks == 1);
    CHECK(c.occupied == 3); // 1 and 9 share a slot
    CHECK(c.fullest == 3);
    CHECK(c.entries == 6);
    CHECK(c.cascades == 0);
    CHECK(b.wheel.entries() == 6);
    b.advance(2);
    CHECK(b.census(0).occupied == 2);
    CHECK(b.census(0).fullest == 1);
}

TEST_CASE("census_in_slices_says_when_it_ends") {
    census_bench<hashed_wheel> b(8U);
    b.add(7);
    detail::level_census c;
    CHECK(b.wheel.count_slots(0, 0, 4, c));
    CHECK(c.occupied == 0);
    CHECK_FALSE(b.wheel.count_slots(0, 4, 4, c));
    CHECK(c.occupied == 1);
    CHECK_FALSE(b.wheel.count_slots(0, 100, 4, c));
    CHECK(c.occupied == 1);
}

TEST_CASE("census_a_cancelled_timer_leaves_a_dead_entry") {
    census_bench<hashed_wheel> b(8U);
    timer_node& t = b.add(3);
    b.wheel.cancel(t);
    CHECK(b.wheel.size() == 0);
    CHECK(b.census(0).entries == 1);
    b.wheel.trim();
    CHECK(b.census(0).entries == 0);
}

TEST_CASE("levels_each_counts_its_own_entries_and_cascades") {
    using namespace std::chrono_literals;
    census_bench<hierarchical_wheel> b(wheel_levels{{1ms, 4}, {4ms, 4}, {16ms, 4}});
    REQUIRE(b.wheel.levels() == 3);
    CHECK(b.census(1).slots == 0); // none is allocated yet
    b.add(2);
    b.add(10);
    b.add(11);
    b.add(40);
    CHECK(b.census(0).entries == 1);
    CHECK(b.census(1).entries == 2);
    CHECK(b.census(1).occupied == 1);
    CHECK(b.census(1).fullest == 2);
    CHECK(b.census(1).slots == 4);
    CHECK(b.census(1).slot_ticks == 4);
    CHECK(b.census(2).entries == 1);
    CHECK(b.census(2).slot_ticks == 16);
    b.advance(8);
    CHECK(b.census(1).cascades == 1); // the slot of ticks 8 to 11 has moved down
    CHECK(b.census(1).entries == 0);
    CHECK(b.census(0).entries == 2);
    b.advance(39);
    CHECK(b.census(2).cascades == 1); // the slot of ticks 32 to 47
    CHECK(b.fired == 3);
    b.advance(40);
    CHECK(b.fired == 4);
}

TEST_CASE("levels_cascades_are_counted_tick_by_tick_and_in_a_jump") {
    using namespace std::chrono_literals;
    for (const std::uint64_t step : {1U, 3U, 50U}) { // more than 4 ticks are a jump
        CAPTURE(step);
        census_bench<hierarchical_wheel> b(wheel_levels{{1ms, 4}, {4ms, 4}, {16ms, 4}});
        b.add(10);
        b.add(15);
        b.add(40);
        for (std::uint64_t t = 0; t < 50;) b.advance(t += step);
        CHECK(b.fired == 3);
        CHECK(b.census(0).cascades == 0);
        CHECK(b.census(1).cascades == (step == 50 ? 2 : 3)); // step by step, the timer of tick 40 passes level 1 too
        CHECK(b.census(2).cascades == 1);
    }
}

TEST_CASE("due_counts_the_timers_of_each_tick") {
    census_bench<hashed_wheel> b(8U);
    for (const std::uint64_t due : {1U, 1U, 3U, 3U, 3U, 8U, 9U, 17U, 100U}) b.add(due);
    CHECK(b.due(0) == 0);
    CHECK(b.due(1) == 2);
    CHECK(b.due(2) == 2);
    CHECK(b.due(3) == 5);
    CHECK(b.due(8) == 6); // not those of later revolutions
    CHECK(b.due(9) == 7);
    CHECK(b.due(20) == 8);
    CHECK(b.due(1000) == 9);
}

TEST_CASE("due_counts_what_the_budget_left") {
    census_bench<hashed_wheel> b(8U);
    for (int i = 0; i < 10; ++i) b.add(3);
    for (int i = 0; i < 5; ++i) b.add(4);
    b.add(6);
    const advance_result r = b.advance(5, work_budget::expiries(4));
    CHECK(r.more);
    CHECK(r.spent);
    CHECK(b.due(5) == 15 - static_cast<std::size_t>(b.fired));
    b.advance(5);
    CHECK(b.due(5) == 0);
    CHECK(b.due(6) == 1);
}

TEST_CASE("due_counts_overdue_timers") {
    census_bench<hashed_wheel> b(8U);
    b.advance(10);
    b.add(3);
    b.add(10);
    CHECK(b.due(10) == 2);
    b.advance(10);
    CHECK(b.due(10) == 0);
}

TEST_CASE("due_counts_on_all_levels") {
    using namespace std::chrono_literals;
    census_bench<hierarchical_wheel> b(wheel_levels{{1ms, 4}, {4ms, 4}, {16ms, 4}});
    for (const std::uint64_t due : {2U, 10U, 11U, 40U, 41U, 60U}) b.add(due);
    CHECK(b.due(2) == 1);
    CHECK(b.due(10) == 2);
    CHECK(b.due(11) == 3);
    CHECK(b.due(40) == 4);
    CHECK(b.due(59) == 5);
    CHECK(b.due(60) == 6);
}

TEST_CASE("due_after_a_jump_counts_what_is_left") {
    census_bench<hashed_wheel> b(8U);
    for (std::uint64_t t = 1; t <= 40; ++t) b.add(t);
    b.advance(35, work_budget::expiries(5));
    CHECK(b.due(35) == 35 - static_cast<std::size_t>(b.fired));
    CHECK(b.due(40) == 40 - static_cast<std::size_t>(b.fired));
}

TEST_CASE("due_stops_at_its_limit") {
    census_bench<hashed_wheel> b(8U);
    for (int i = 0; i < 1000; ++i) b.add(3);
    CHECK(b.due(3, 100) >= 100);
    CHECK(b.due(3, 100) <= 200);
    CHECK(b.due(3, 2000) == 1000);
}

TEST_CASE("spent_only_if_the_budget_is_the_reason") {
    census_bench<hashed_wheel> b(8U);
    b.add(1);
    b.add(1);
    advance_result r = b.advance(1, work_budget::expiries(1));
    CHECK(r.more);
    CHECK(r.spent);
    r = b.advance(1, work_budget::expiries(1)); // just enough
    CHECK_FALSE(r.more);
    CHECK_FALSE(r.spent);
    struct rearming : timer_node {
        hashed_wheel* wheel = nullptr;
        rearming() : timer_node([](timer_node& n, void*) { static_cast<rearming&>(n).again(); }) {}
        void again() { wheel->schedule(*this, wheel->now()); }
    } t;
    t.wheel = &b.wheel;
    b.nodes.attach(t);
    b.wheel.schedule(t, tick{1});
    r = b.advance(1, work_budget::expiries(10));
    CHECK(r.more); // it armed itself anew
    CHECK_FALSE(r.spent);
    b.wheel.cancel(t);
    b.nodes.detach(t);
}

TEST_CASE("spent_not_after_an_interrupt") {
    census_bench<hashed_wheel> b(8U);
    struct interrupting : timer_node {
        hashed_wheel* wheel = nullptr;
        interrupting() : timer_node([](timer_node& n, void*) { static_cast<interrupting&>(n).wheel->interrupt(); }) {}
    } t;
    t.wheel = &b.wheel;
    b.nodes.attach(t);
    b.wheel.schedule(t, tick{1});
    b.add(2);
    const advance_result r = b.advance(2);
    CHECK(r.more);
    CHECK_FALSE(r.spent);
    b.nodes.detach(t);
}

TEST_CASE("sweeps_count_the_steps_that_remove_dead_entries") {
    census_bench<hashed_wheel> b(8U);
    std::vector<timer_node*> all;
    for (int i = 0; i < 3000; ++i) all.push_back(&b.add(5 + static_cast<std::uint64_t>(i) % 3));
    CHECK(b.wheel.sweeps() == 0);
    for (timer_node* t : all) b.wheel.cancel(*t);
    CHECK(b.wheel.entries() == 3000);
    const std::uint64_t before = b.wheel.sweeps();
    timer_node& one = b.add(7);
    CHECK(b.wheel.sweeps() == before + 1); // each new entry takes one step
    CHECK(b.wheel.entries() < 3001);
    b.wheel.cancel(one);
}

TEST_CASE("slices_of_the_table_meet_each_node_once") {
    node_table nodes;
    std::vector<timer_node*> blocks;
    for (int i = 0; i < 700; ++i) blocks.push_back(&nodes.allocate(64));
    timer_node own;
    nodes.attach(own);
    std::size_t armed = 0, steps = 1;
    hashed_wheel wheel(nodes, 8);
    for (timer_node* n : blocks) wheel.schedule(*n, tick{5});
    wheel.schedule(own, tick{6});
    std::uint32_t from = 0;
    std::vector<const timer_node*> seen;
    const auto note = [&](const timer_node& n) {
        if (n.armed()) seen.push_back(&n);
    };
    for (; nodes.for_each_from(from, 100, note); ++steps) {
    }
    std::sort(seen.begin(), seen.end());
    armed = seen.size();
    CHECK(armed == 701);
    CHECK(std::unique(seen.begin(), seen.end()) == seen.end());
    CHECK(steps >= 7);
    wheel.clear([](timer_node&) {});
    for (timer_node* n : blocks) nodes.release(*n, 64);
    nodes.detach(own);
}
