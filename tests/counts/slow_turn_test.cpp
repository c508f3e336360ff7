// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The words of a report on a slow turn, and its options.
#include "support/constant_names.hpp"
#include "support/refusal.hpp"

#include <cogwheel/counts/slow_turn.hpp>
#include <cogwheel/counts/wheel_stats.hpp>

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("to_string_says_how_long_and_how_many_wait") {
    CHECK(to_string(slow_turn{83ms + 400us, 12, 12'000, 0}) ==
          "a turn took 83 ms and fired 12 timers; 12,000 timers are due and wait");
    CHECK(to_string(slow_turn{1'234ms, 1, 1, 1}) ==
          "a turn took 1,234 ms and fired 1 timer; 1 timer is due and waits; 1 slow turn before it not reported");
    CHECK(to_string(slow_turn{12s, 0, 0, 1'234'567}) ==
          "a turn took 12 s and fired 0 timers; 1,234,567 slow turns before it not reported");
    CHECK(to_string(slow_turn{450us, 0, 0, 0}) == "a turn took 450 us and fired 0 timers");
    CHECK(to_string(slow_turn{999ns, 0, 0, 0}) == "a turn took 999 ns and fired 0 timers");
    CHECK(to_string(slow_turn{-1h, 0, 0, 0}) == "a turn took 0 ns and fired 0 timers"); // the clock was turned back
}

TEST_CASE("validate_names_the_value_and_the_range") {
    CHECK_NOTHROW(slow_turn_options{}.validate());
    CHECK_NOTHROW((slow_turn_options{.longer_than = 0ns, .waiting = 1, .at_most_every = 0ns}.validate()));
    CHECK(refusal_of([] { slow_turn_options{.longer_than = -1ns}.validate(); }).find("longer_than is -1 ns") !=
          std::string::npos);
    CHECK(refusal_of([] { slow_turn_options{.waiting = 0}.validate(); }).find("at least 1") != std::string::npos);
    CHECK(refusal_of([] { slow_turn_options{.at_most_every = -5ms}.validate(); }).find("-5000000 ns") !=
          std::string::npos);
}

TEST_CASE("timer_kind_has_names") {
    check_names<timer_kind>({{timer_kind::wait, "wait"},
                             {timer_kind::callable, "callable"},
                             {timer_kind::object, "object"},
                             {timer_kind::timeout, "timeout"},
                             {timer_kind::request, "request"}});
}
