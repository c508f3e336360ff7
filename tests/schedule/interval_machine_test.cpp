// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The grid of an interval, in plain numbers: what each policy makes of late ticks, and that a million periods do not
// drift.
#include "support/constant_names.hpp"

#include <cogwheel/schedule/detail/interval_machine.hpp>
#include <cogwheel/schedule/on_duplicate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace cogwheel;
using cogwheel::detail::interval_machine;
using namespace cogwheel_tests;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds never = nanoseconds::max();

// A tick is asked for at once, and comes when it is due, or at `comes`, if that is later.
struct step {
    std::int64_t comes, due, following;
    std::uint64_t missed;
};

void run_table(interval_machine machine, const std::vector<step>& table) {
    std::int64_t now = 0;
    for (const step& s : table) {
        CAPTURE(s.comes);
        const auto due = machine.next(nanoseconds(now));
        REQUIRE(due.has_value());
        CHECK(due->count() == s.due);
        now = std::max<std::int64_t>({now, s.comes, due->count()});
        CHECK(machine.ticked(nanoseconds(now)).count() == s.due);
        CHECK(machine.next(nanoseconds(now))->count() == s.following);
        CHECK(machine.missed() == s.missed);
    }
}

interval_machine every_10(interval_misfire missed) {
    return {{.period = nanoseconds(10), .misfire = missed}, nanoseconds(0), never};
}

} // namespace

TEST_CASE("interval_missed_ticks_skip_goes_on_with_the_grid_ahead") {
    run_table(every_10(interval_misfire::skip), {
                                                    {10, 10, 20, 0},
                                                    {29, 20, 30, 0}, // late, but the next one is not due yet
                                                    {40, 30, 50, 1}, // 40 has come with it
                                                    {85, 50, 90, 4}, // 60, 70, 80
                                                    {90, 90, 100, 4},
                                                });
}

TEST_CASE("interval_missed_ticks_delay_moves_the_grid") {
    run_table(every_10(interval_misfire::delay), {
                                                     {10, 10, 20, 0},
                                                     {29, 20, 30, 0},
                                                     {40, 30, 50, 1},
                                                     {85, 50, 95, 4},
                                                     {95, 95, 105, 4},
                                                 });
}

TEST_CASE("interval_missed_ticks_burst_makes_up_for_all") {
    run_table(every_10(interval_misfire::burst), {
                                                     {10, 10, 20, 0},
                                                     {45, 20, 30, 0},
                                                     {45, 30, 40, 0},
                                                     {45, 40, 50, 0},
                                                     {50, 50, 60, 0},
                                                 });
}

TEST_CASE("interval_fixed_delay_counts_from_the_question") {
    interval_machine machine(
        {.period = nanoseconds(10), .first_delay = nanoseconds(3), .pace = interval_pace::fixed_delay},
        nanoseconds(100), never);
    CHECK(machine.next(nanoseconds(100))->count() == 103);
    CHECK(machine.next(nanoseconds(101))->count() == 103); // the first one counts from the start
    CHECK(machine.ticked(nanoseconds(104)).count() == 103);
    CHECK(machine.next(nanoseconds(150))->count() == 160);
    CHECK(machine.next(nanoseconds(155))->count() == 165); // asked again
    CHECK(machine.ticked(nanoseconds(200)).count() == 165);
    CHECK(machine.missed() == 0);
}

TEST_CASE("interval_ends_after_so_many_ticks_or_at_its_end") {
    interval_machine thrice({.period = nanoseconds(10), .first_delay = nanoseconds(0), .times = 3}, nanoseconds(5),
                            never);
    for (const int due : {5, 15, 25}) CHECK(thrice.ticked(*thrice.next(nanoseconds(due))).count() == due);
    CHECK(!thrice.next(nanoseconds(25)).has_value());
    CHECK(thrice.count() == 3);

    interval_machine until_30({.period = nanoseconds(10)}, nanoseconds(0), nanoseconds(30));
    for (const int due : {10, 20, 30}) CHECK(until_30.ticked(*until_30.next(nanoseconds(due))).count() == due);
    CHECK(!until_30.next(nanoseconds(30)).has_value());
}

TEST_CASE("interval_a_million_periods_do_not_drift") {
    // A period that no power of two divides, ticks that are late by less than that, at random.
    constexpr std::int64_t period = 33'333'333, start = 12'345;
    detail::small_random random(7);
    interval_machine machine({.period = nanoseconds(period)}, nanoseconds(start), never);
    std::int64_t now = start;
    for (std::int64_t n = 1; n <= 1'000'000; ++n) {
        const std::int64_t due = start + n * period;
        if (machine.next(nanoseconds(now))->count() != due) FAIL("tick " << n << " drifts");
        now = due + static_cast<std::int64_t>(detail::scale_bits(random(), period - 1));
        machine.ticked(nanoseconds(now));
    }
    CHECK(machine.count() == 1'000'000);
    CHECK(machine.missed() == 0);
}

TEST_CASE("interval_jitter_delays_within_its_bound_and_leaves_the_grid") {
    detail::small_random random(3);
    interval_machine machine({.period = nanoseconds(100), .jitter = nanoseconds(20), .random = random}, nanoseconds(0),
                             never);
    std::vector<int> seen(21);
    for (std::int64_t n = 1; n <= 10'000; ++n) {
        const auto at = machine.next(nanoseconds(n * 100 - 50));
        const std::int64_t late = at->count() - n * 100;
        REQUIRE((late >= 0 && late <= 20));
        ++seen[static_cast<std::size_t>(late)];
        CHECK(machine.ticked(*at).count() == n * 100);
    }
    for (const int times : seen) CHECK(times > 300); // of 476
}

TEST_CASE("interval_jitter_is_no_lateness_and_ends_with_the_end") {
    detail::small_random random(3);
    interval_machine machine({.period = nanoseconds(100), .jitter = nanoseconds(99), .random = random}, nanoseconds(0),
                             nanoseconds(100'000));
    for (std::int64_t n = 1; n <= 1000; ++n) {
        const auto at = machine.next(nanoseconds(0));
        REQUIRE(at.has_value());
        CHECK(at->count() <= 100'000);
        CHECK(machine.ticked(*at + nanoseconds(10)).count() == n * 100); // a tick of the wheel late
    }
    CHECK(machine.missed() == 0);
    CHECK(!machine.next(nanoseconds(0)).has_value());
}

TEST_CASE("interval_extreme_periods_saturate") {
    interval_machine machine({.period = nanoseconds::max()}, nanoseconds(1000), nanoseconds::max());
    CHECK(*machine.next(nanoseconds(1000)) == nanoseconds::max());
    CHECK(machine.ticked(nanoseconds::max()) == nanoseconds::max());
    CHECK(machine.next(nanoseconds::max()).has_value());
}

TEST_CASE("schedule_constants_have_names") {
    check_names<interval_pace>(
        {{interval_pace::fixed_rate, "fixed_rate"}, {interval_pace::fixed_delay, "fixed_delay"}});
    check_names<interval_misfire>(
        {{interval_misfire::skip, "skip"}, {interval_misfire::delay, "delay"}, {interval_misfire::burst, "burst"}});
    check_names<on_duplicate>(
        {{on_duplicate::reject, "reject"}, {on_duplicate::replace, "replace"}, {on_duplicate::keep, "keep"}});
}
