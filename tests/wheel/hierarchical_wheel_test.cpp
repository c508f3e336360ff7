// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What only a wheel of levels has: shapes, the way down, the last level's rounds. The rest is tested for every wheel.
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t second = 100, minute = 60 * second, hour = 60 * minute, day = 24 * hour; // of 10 ms

struct by_the_clock : hierarchical_wheel {
    by_the_clock(node_table& nodes, std::size_t, tick now) : hierarchical_wheel(nodes, clock_hands, now) {}
};

std::string fault_of(const wheel_levels& levels) {
    node_table nodes;
    try {
        const hierarchical_wheel wheel(nodes, levels);
        return {};
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

} // namespace

TEST_CASE("levels_of_a_clock_fire_at_their_tick_near_every_hand") {
    basic_wheel_fixture<by_the_clock> bench(0, 3);
    CHECK(bench.wheel.levels() == 5);
    std::vector<std::uint64_t> due;
    for (const std::uint64_t hand : {std::uint64_t{1}, second, minute, hour, day, 30 * day, 90 * day})
        for (const std::uint64_t at : {hand - 1, hand, hand + 1, 2 * hand - 1, 2 * hand, 7 * hand + 13})
            if (at > 3) due.push_back(at);
    std::sort(due.begin(), due.end());
    for (const std::uint64_t at : due) bench.schedule(at);
    for (const std::uint64_t at : due) {
        if (at > bench.wheel.now().value) {
            CHECK(bench.next_due() <= at);
            if (at < std::uint64_t{1} << 31) CHECK(bench.next_due() == at); // an entry goes no farther
            bench.advance(at - 1);
            CHECK(bench.take_fired().empty());
            bench.advance(at);
            CHECK(!bench.take_fired().empty());
        }
        CHECK(bench.wheel.check_invariants() == nullptr);
    }
    CHECK(bench.wheel.size() == 0);
}

TEST_CASE("levels_going_down_is_bounded_by_the_budget") {
    basic_wheel_fixture<hierarchical_wheel> bench(8);
    for (int i = 0; i < 5000; ++i) bench.schedule(4096 + 3); // all in one far slot
    bench.advance(4094);
    std::size_t calls = 0;
    while (bench.advance(4095 + 3, work_budget::expiries(10)).more) ++calls;
    CHECK(bench.fired.empty());
    CHECK(calls >= 5000 / 320);
    while (bench.advance(4096 + 3, work_budget::expiries(10)).more) ++calls;
    CHECK(bench.fired.size() == 5000);
}

TEST_CASE("levels_going_down_half_way_then_a_jump_leaves_none_behind") {
    basic_wheel_fixture<hierarchical_wheel> bench(8);
    for (int i = 0; i < 5000; ++i) bench.schedule(4096 + 3);
    bench.advance(4095);
    CHECK(bench.advance(4096, work_budget::expiries(1)).more); // some have gone down, most have not
    CHECK(bench.advance(1'000'000, work_budget::expiries(1)).more);
    CHECK(bench.wheel.check_invariants() == nullptr);
    const auto rest = bench.advance(1'000'000);
    CHECK(bench.fired.size() == 5000);
    CHECK(!rest.more);
}

TEST_CASE("levels_a_far_timer_is_not_met_on_the_way_of_a_near_one") {
    basic_wheel_fixture<uneven_levels> bench(0); // 5 slots of 1 tick, 3 of 4, 4 of 12
    bench.schedule(20);
    for (int i = 0; i < 1000; ++i)
        bench.schedule(20 + 16); // in the last level: that of 4 ticks would have it beside the 20
    bench.advance(14);
    CHECK(!bench.advance(20, work_budget::expiries(2)).more);
    CHECK(bench.take_fired() == std::vector<int>{0});
}

TEST_CASE("levels_take_memory_from_their_first_timer_on") {
    basic_wheel_fixture<hierarchical_wheel> bench(512);
    CHECK(bench.wheel.levels() == 4);
    bench.schedule(5);
    const std::size_t near = bench.wheel.footprint();
    bench.schedule(511);
    CHECK(bench.wheel.footprint() == near);
    bench.schedule(100'000);
    CHECK(bench.wheel.footprint() > near);
}

TEST_CASE("levels_as_many_as_2_to_the_31_ticks_need") {
    node_table nodes;
    CHECK(hierarchical_wheel(nodes, 1).levels() == 31); // of 2 slots
    CHECK(hierarchical_wheel(nodes, 64).levels() == 6);
    CHECK(hierarchical_wheel(nodes, 65).levels() == 5); // of 128
    CHECK(hierarchical_wheel(nodes, hierarchical_wheel::max_slots).levels() == 2);
    CHECK(hierarchical_wheel(nodes, wheel_levels{}).levels() == 6);
    CHECK(hierarchical_wheel(nodes, wheel_levels::uniform(1ms)).levels() == 6);
    CHECK(hierarchical_wheel(nodes, {{10ms, 100}}).levels() == 1);
    static_assert(wheel_levels::uniform(1ms, 64, 8).size() == 8); // one more would not fit
}

TEST_CASE("levels_that_make_no_wheel_are_refused") {
    const auto says = [](const std::string& what, std::initializer_list<const char*> parts) {
        CAPTURE(what);
        for (const char* part : parts) CHECK(what.find(part) != std::string::npos);
    };
    CHECK(fault_of(clock_hands).empty());
    says(fault_of({{0ms, 10}}), {"level 1", "0 ns", "above zero", "10ms"});
    says(fault_of({{1ms, 1}}), {"level 1", "1 slots", "2 .. 65536", "64"});
    says(fault_of({{1ms, 10}, {10ms, 65'537}}), {"level 2", "65537 slots", "2 .. 65536"});
    says(fault_of({{10ms, 10}, {25ms, 10}}), {"level 2", "25000000 ns", "multiple of 10000000 ns"});
    says(fault_of({{10ms, 10}, {10ms, 10}}), {"level 2", "multiple"});
    says(fault_of({{10ms, 10}, {110ms, 10}}), {"level 2", "110000000 ns", "10 x 10000000 ns", "11 slots"});
}
