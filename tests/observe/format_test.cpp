// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of a wheel in one line.
#include <cogwheel/observe/format.hpp>

#include <doctest/doctest.h>

using namespace std::chrono_literals;

TEST_CASE("format_is_one_line_with_the_counts_that_matter_first") {
    cogwheel::wheel_stats s;
    s.pending = 12;
    s.scheduled = 1200;
    s.fired = 600;
    s.cancelled = 588;
    s.turns = 310;
    s.lateness.p50 = 520us;
    s.lateness.p99 = 9500us;
    s.lateness.max = 12ms;
    s.turn_duration.record(1200us);
    CHECK(fmt::format("{}", s) == "12 pending, 1200 scheduled, 600 fired, 588 cancelled, 0 rejected; late p50 0.52 ms, "
                                  "p99 9.50 ms, max 12.00 ms; 310 turns, longest 1.20 ms");
    s.due = 7;
    CHECK(fmt::format("{}", s).find("; 7 due; late") != std::string::npos);
}
