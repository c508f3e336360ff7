// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a snapshot tells of the slots: levels, groups of slots, the hand.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("snapshot_has_the_levels") {
    asio::io_context io;
    basic_timer_wheel<manual_clock, multi_threaded, hierarchical_wheel> wheel{io,
                                                                              {.tick = 10ms, .levels = clock_hands}};
    wheel.schedule(20ms, must_not_run());
    wheel.schedule(5s, must_not_run());
    wheel.schedule(5s, must_not_run());
    const wheel_snapshot s = wheel.snapshot();
    REQUIRE(s.levels.size() == clock_hands.size());
    CHECK(s.levels[0].slot == 10ms);
    CHECK(s.levels[0].entries == 1);
    CHECK(s.levels[1].slot == 1s);
    CHECK(s.levels[1].occupied_slots == 1);
    CHECK(s.levels[1].fullest_slot == 2);
    CHECK(s.levels[2].slots == 0); // not allocated yet
    CHECK(s.levels[4].slot == 24h);
    CHECK(s.pending == 3);
    wheel.stop();
    run_ready(io);
}

TEST_CASE("snapshot_in_steps_equals_the_whole") {
    virtual_wheel w({.tick = 1ms, .slots = 20'000}); // 32,768
    for (int i = 1; i < 100; ++i) w.wheel.schedule(std::chrono::milliseconds(i * 300), must_not_run());
    const wheel_snapshot whole = w.wheel.snapshot();
    wheel_snapshot s;
    wheel_cursor cursor;
    int steps = 1;
    for (; w.wheel.snapshot(cursor, s); ++steps) CHECK_FALSE(cursor.done());
    CHECK(cursor.done());
    CHECK(steps >= 8); // of 4,096 slots
    CHECK(s.levels == whole.levels);
    REQUIRE(s.levels.size() == 1);
    CHECK(s.levels[0].entries == 99);
    CHECK(s.levels[0].occupied_slots == 99);
    w.wheel.stop();
    w.run();
}

TEST_CASE("snapshot_without_groups_has_none") {
    virtual_wheel w;
    CHECK(w.wheel.snapshot().levels[0].groups.empty());
}

TEST_CASE("snapshot_groups_hold_the_entries_of_neighbouring_slots") {
    virtual_wheel w({.tick = 1ms, .slots = 16'384});
    for (const auto due : {1ms, 2ms, 63ms, 64ms, 16'383ms}) w.wheel.schedule(due, must_not_run());
    const auto groups = [&](std::size_t most) {
        wheel_snapshot s;
        for (wheel_cursor cursor(most); w.wheel.snapshot(cursor, s);) {
        }
        return s.levels[0].groups;
    };
    std::vector<std::uint64_t> expected(256);
    expected[0] = 3;
    expected[1] = 1;
    expected[255] = 1;
    CHECK(groups(256) == expected);
    CHECK(groups(511) == expected); // groups are equally large
    CHECK(groups(1) == std::vector<std::uint64_t>{5});
    CHECK(groups(100'000).size() == 16'384);
    CHECK(groups(100'000)[63] == 1);
    w.wheel.stop();
    w.run();
}

TEST_CASE("snapshot_groups_also_with_a_cursor_that_is_copied_or_moved") {
    virtual_wheel w({.tick = 1ms, .slots = 16'384});
    for (int i = 0; i < 16'384; i += 64) w.wheel.schedule(1ms * i, must_not_run());
    wheel_snapshot s;
    wheel_cursor cursor(256);
    for (bool more = true; more;) {
        wheel_cursor next = cursor;
        more = w.wheel.snapshot(next, s);
        cursor = std::move(next);
    }
    CHECK(std::count(s.levels[0].groups.begin(), s.levels[0].groups.end(), 1U) == 255); // one is overdue
    w.wheel.stop();
    w.run();
}

TEST_CASE("snapshot_groups_of_each_level") {
    asio::io_context io;
    basic_timer_wheel<manual_clock, multi_threaded, hierarchical_wheel> wheel{io,
                                                                              {.tick = 10ms, .levels = clock_hands}};
    wheel.schedule(20ms, must_not_run());
    wheel.schedule(5s, must_not_run());
    wheel_snapshot s;
    for (wheel_cursor cursor(8); wheel.snapshot(cursor, s);) {
    }
    for (const level_stats& level : s.levels) {
        CHECK((level.slots == 0 || level.groups.size() == 8));
        CHECK(std::accumulate(level.groups.begin(), level.groups.end(), std::uint64_t{0}) == level.entries);
    }
    CHECK(s.levels[0].entries + s.levels[1].entries == 2);
    wheel.stop();
    run_ready(io);
}

TEST_CASE("hand_is_the_slot_of_the_present_tick") {
    virtual_wheel w({.tick = 10ms, .slots = 8});
    w.wheel.schedule(1h, must_not_run());
    const auto hand = [&] { return w.wheel.snapshot().levels[0].hand; };
    const auto first = hand();
    for (int i = 1; i < 20; ++i) {
        manual_clock::advance(10ms); // without a turn
        CHECK(hand() == (first + static_cast<std::uint64_t>(i)) % 8);
    }
    manual_clock::advance(5ms);
    const auto before = hand();
    w.wheel.schedule(10ms, must_not_run());
    wheel_snapshot s;
    for (wheel_cursor cursor(8); w.wheel.snapshot(cursor, s);) {
    }
    // Rounded up: the timer is due two ticks later, or one if the tick has just begun.
    CHECK((s.levels[0].groups[(before + 2) % 8] == 1 || s.levels[0].groups[(before + 1) % 8] == 1));
    w.wheel.stop();
    w.run();
}
