// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the examples draw on a terminal. That they draw nothing elsewhere is checked on the programs (demo_script.py).
#include "support/live_view.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;

TEST_CASE("redrawn_first_block_moves_no_cursor") { CHECK(output::redrawn({"one", "two"}, 0, {}) == "one\ntwo\n"); }

TEST_CASE("redrawn_next_block_goes_up_and_erases_the_last_one") {
    CHECK(output::redrawn({"one"}, 3, {}) == "\r\033[3A\033[Jone\n");
}

TEST_CASE("redrawn_line_is_cut_before_the_last_column") {
    const std::string wide(100, 'x');
    CHECK(output::redrawn({wide, "ab"}, 0, {}) == std::string(79, 'x') + "\nab\n");
    CHECK(output::redrawn({wide, "ab"}, 0, {.columns = 2}) == "x\na\n");
    CHECK(output::redrawn({wide, "ab"}, 0, {.columns = 1}) == "\n\n");
}

TEST_CASE("labelled_bar_is_as_long_as_its_share") {
    const auto bar = [](std::uint64_t count, std::uint64_t whole) {
        const auto text = output::labelled_bar("label", count, whole);
        CHECK(text.starts_with(fmt::format("label     {:>7}  ", count)));
        CHECK(text.find_first_not_of('#', 19) == text.npos);
        return text.size() - 19;
    };
    CHECK(bar(0, 0) == 0);
    CHECK(bar(0, 1000) == 0);
    CHECK(bar(1, 1'000'000) == 1);
    CHECK(bar(500, 1000) == 25);
    CHECK(bar(999, 1000) == 50);
    CHECK(bar(1000, 1000) == 50);
    CHECK(bar(1001, 1000) == 50);
    CHECK(bar(1, 0) == 50);
}

TEST_CASE("rate_is_the_growth_since_the_last_look") {
    const std::chrono::steady_clock::time_point start{1h};
    output::rate rate{start};
    CHECK(rate.per_second(0, start) == 0);
    CHECK(rate.per_second(100, start + 500ms) == 200);
    CHECK(rate.per_second(100, start + 1s) == 0);
    CHECK(rate.per_second(130, start + 4s) == 10);
}

TEST_CASE("rate_after_a_short_time_is_still_the_last_one") {
    const std::chrono::steady_clock::time_point start{1h};
    output::rate rate{start};
    CHECK(rate.per_second(7, start + 10ms) == 0);
    CHECK(rate.per_second(20, start + 200ms) == 100);
    CHECK(rate.per_second(999, start + 201ms) == 100);
    CHECK(rate.per_second(1020, start + 1200ms) == 1000);
}

TEST_CASE("lateness_text_has_two_quantiles_and_the_largest_value") {
    cogwheel::lateness_histogram lateness;
    CHECK(output::to_text(lateness) == "p50 0.00 ms, p99 0.00 ms, max 0.00 ms");
    lateness.record(12'340us);
    CHECK(output::to_text(lateness).ends_with("max 12.34 ms"));
}
