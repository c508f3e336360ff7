// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table of the longest turns: which turns it keeps, and for how long.
#include <cogwheel/counts/longest_turns.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace cogwheel;
using namespace std::chrono_literals;

TEST_CASE("longest_turns_without_a_turn_has_empty_rows") {
    CHECK(longest_turns().read(1h) == std::array<long_turn, longest_turns::most>{});
}

TEST_CASE("longest_turns_turn_that_took_no_time_is_no_row") {
    longest_turns turns;
    turns.record(0ns, 7, 1s);
    CHECK(turns.read(1s)[0] == long_turn{});
}

TEST_CASE("longest_turns_shows_the_longest_first_with_their_age") {
    longest_turns turns;
    turns.record(1ms, 1, 10s);
    turns.record(3ms, 2, 20s);
    turns.record(2ms, 3, 11min);
    const auto rows = turns.read(12min);
    CHECK(rows[0] == long_turn{3ms, 2, 11min + 40s});
    CHECK(rows[1] == long_turn{2ms, 3, 1min});
    CHECK(rows[2] == long_turn{1ms, 1, 11min + 50s});
    CHECK(rows[3] == long_turn{});
}

TEST_CASE("longest_turns_old_ones_do_not_hide_shorter_ones_that_follow") {
    longest_turns turns;
    for (int i = 0; i < 5; ++i) turns.record(200ms, 1, 1min);
    for (int i = 0; i < 1000; ++i) turns.record(190ms, 2, 30min + 1s * i);
    CHECK(turns.read(59min)[4] == long_turn{200ms, 1, 58min});
    CHECK(turns.read(62min)[0].took == 190ms);
    CHECK(turns.read(62min)[4].took == 190ms);
}

TEST_CASE("longest_turns_are_forgotten_after_50_to_60_minutes") {
    longest_turns turns;
    turns.record(80ms, 1, 9min);
    CHECK(turns.read(1h - 1ns)[0] == long_turn{80ms, 1, 51min - 1ns});
    CHECK(turns.read(1h)[0] == long_turn{});
    turns.record(70ms, 1, 70min); // in the place of the first ten minutes
    CHECK(turns.read(70min)[0] == long_turn{70ms, 1, 0ns});
    CHECK(turns.read(70min)[1] == long_turn{});
}

TEST_CASE("longest_turns_at_the_end_of_time") {
    longest_turns turns;
    turns.record(1ms, 1, std::chrono::nanoseconds::max() - 1min);
    CHECK(turns.read(std::chrono::nanoseconds::max())[0] == long_turn{1ms, 1, 1min});
}

// Over hours, the table is the head of the sorted list of the turns of its ten minutes.
TEST_CASE("longest_turns_agree_with_a_sorted_list") {
    struct turn {
        std::chrono::nanoseconds took, ended;
    };
    std::mt19937 random(7);
    longest_turns turns;
    std::vector<turn> all;
    auto now = std::chrono::nanoseconds(1s);
    for (int i = 1; i <= 3000; ++i) {
        now += 1s * (random() % 20);
        const std::chrono::nanoseconds took(1 + random() % 1000);
        turns.record(took, 1, now);
        all.push_back({took, now});
        const auto first = (now / 10min - 5) * std::chrono::nanoseconds(10min);
        std::erase_if(all, [&](const turn& t) { return t.ended < first; });
        std::sort(all.begin(), all.end(), [](const turn& a, const turn& b) { return a.took > b.took; });
        const auto rows = turns.read(now);
        for (std::size_t r = 0; r < longest_turns::most && r < all.size(); ++r) REQUIRE(rows[r].took == all[r].took);
    }
}
