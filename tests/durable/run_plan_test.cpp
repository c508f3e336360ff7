// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which runs of a recurring task begin, and when it is due next.
#include "src/durable/run_plan.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace std::chrono_literals;
using detail::plan_runs;
using detail::recurring_part;
using detail::run_plan;
using std::chrono::nanoseconds;

namespace {

constexpr std::int64_t plan_day = 86'400'000, plan_grace = 5'000; // ms
using plan_list = std::vector<std::int64_t>;

recurring_part every_minute(task_misfire misfire = task_misfire::fire_once()) {
    return {task_trigger::every(1min), misfire, nanoseconds(plan_day * 1'000'000)};
}

run_plan plan_at(const recurring_part& part, std::int64_t due, std::int64_t now, std::int64_t left = forever) {
    return plan_runs(part, "id", due, now, plan_grace, left);
}

} // namespace

TEST_CASE("plan_runs_on_time_makes_one_run_and_the_next_point") {
    const run_plan p = plan_at(every_minute(), plan_day, plan_day + 3);
    CHECK(p.occurrences == plan_list{plan_day});
    CHECK(p.next_due == plan_day + 60'000);
    CHECK(p.runs_left == forever);
    CHECK(p.missed == 0);
}

TEST_CASE("plan_runs_with_a_clock_behind_takes_the_run_for_due") {
    const run_plan p = plan_at(every_minute(), plan_day, plan_day - 2);
    CHECK(p.occurrences == plan_list{plan_day});
    CHECK(p.next_due == plan_day + 60'000);
}

TEST_CASE("plan_runs_that_were_missed_follow_the_policy") {
    const std::int64_t now = plan_day + 3 * 60'000 + 20'000; // four are due, the last one 20 s ago
    const run_plan once = plan_at(every_minute(task_misfire::fire_once()), plan_day, now);
    CHECK(once.occurrences == plan_list{plan_day + 180'000});
    CHECK(once.missed == 3);
    const run_plan skip = plan_at(every_minute(task_misfire::skip()), plan_day, now);
    CHECK(skip.occurrences.empty());
    CHECK(skip.missed == 4);
    const run_plan two = plan_at(every_minute(task_misfire::catch_up(2)), plan_day, now);
    CHECK(two.occurrences == plan_list{plan_day + 120'000, plan_day + 180'000});
    CHECK(two.missed == 2);
    for (const run_plan& p : {once, skip, two}) CHECK(p.next_due == plan_day + 240'000);
    // Within the grace, the last one is not missed.
    CHECK(plan_at(every_minute(task_misfire::skip()), plan_day, plan_day + 180'000 + plan_grace).occurrences ==
          plan_list{plan_day + 180'000});
}

TEST_CASE("plan_runs_counts_down_to_the_end") {
    const recurring_part part{task_trigger::every(1min).times(2), task_misfire::fire_once(),
                              nanoseconds(plan_day * 1'000'000)};
    const run_plan first = plan_at(part, plan_day, plan_day, 2);
    CHECK(first.runs_left == 1);
    CHECK(first.next_due == plan_day + 60'000);
    const run_plan ending = plan_at(part, plan_day + 60'000, plan_day + 60'000, 1);
    CHECK(ending.occurrences.size() == 1);
    CHECK(ending.next_due == 0);
    CHECK(ending.runs_left == 0);
    // Missed runs do not count.
    CHECK(plan_at(part, plan_day, plan_day + 600'000, 2).runs_left == 1);
}

TEST_CASE("plan_runs_until_a_date_ends_there") {
    const auto until = task_trigger::wall_point(nanoseconds((plan_day + 60'000) * 1'000'000));
    const recurring_part part{task_trigger::every(1min).until(until), task_misfire::fire_once(),
                              nanoseconds(plan_day * 1'000'000)};
    CHECK(plan_at(part, plan_day, plan_day).next_due == plan_day + 60'000);
    CHECK(plan_at(part, plan_day + 60'000, plan_day + 60'000).next_due == 0);
    // Late: the last run is the one at the date, not one after it.
    CHECK(plan_at(part, plan_day, plan_day + 600'000).occurrences == plan_list{plan_day + 60'000});
}

TEST_CASE("plan_runs_with_jitter_keeps_the_grid_and_is_the_same_for_all_workers") {
    const recurring_part part{task_trigger::every(1min).jitter(30s), task_misfire::catch_up(10),
                              nanoseconds(plan_day * 1'000'000)};
    std::int64_t due = detail::due_of(part.trigger, part.first, "id");
    for (std::int64_t n = 0; n < 1'000; ++n) {
        const std::int64_t point = plan_day + 60'000 * n;
        CHECK(due >= point);
        CHECK(due <= point + 30'000);
        const run_plan p = plan_at(part, due, due + 1);
        REQUIRE(p.occurrences == plan_list{due});
        due = p.next_due;
    }
    CHECK(detail::due_of(part.trigger, part.first, "id") != detail::due_of(part.trigger, part.first, "other"));
}

TEST_CASE("plan_runs_of_a_cron_expression_follows_its_matches") {
    const recurring_part part{task_trigger::cron("0 7 * * *"), task_misfire::fire_once(),
                              nanoseconds((plan_day + 7 * 3'600'000) * 1'000'000)};
    const std::int64_t seven = plan_day + 7 * 3'600'000;
    const run_plan p = plan_at(part, seven, seven + 10);
    CHECK(p.occurrences == plan_list{seven});
    CHECK(p.next_due == seven + plan_day);
}

// Whatever the moments: no run comes twice, none before its point, and none that catch_up allows is left out.
TEST_CASE("plan_runs_of_random_moments_makes_each_point_once") {
    cogwheel_tests::random_source random(20261125);
    for (int round = 0; round < 2'000; ++round) {
        const std::int64_t period = 1 + static_cast<std::int64_t>(random.below(100'000));
        const recurring_part part{task_trigger::every(std::chrono::milliseconds(period)), task_misfire::catch_up(100),
                                  nanoseconds(plan_day * 1'000'000)};
        std::int64_t due = plan_day, expected = plan_day;
        for (int step = 0; step < 5; ++step) {
            const std::int64_t now =
                due + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(20 * period)));
            const run_plan p = plan_at(part, due, now);
            for (const std::int64_t at : p.occurrences) {
                REQUIRE(at == expected);
                REQUIRE(at <= now);
                expected += period;
            }
            REQUIRE(p.missed == 0);
            REQUIRE(p.next_due == expected);
            REQUIRE(p.next_due > now);
            due = p.next_due;
        }
    }
}

// Stored as "0 7 * * *" of a zone whose rules then changed by an hour: here as if they were those of UTC from then on.
TEST_CASE("plan_runs_of_a_due_time_that_is_no_point_any_more_takes_the_nearest_one") {
    constexpr std::int64_t hour = 3'600'000, day = 20'000 * plan_day, seven = day + 7 * hour;
    for (const std::int64_t first : {seven - 5 * plan_day, seven - hour, seven + hour}) {
        const recurring_part part{task_trigger::cron("0 7 * * *"), task_misfire::skip(),
                                  nanoseconds(first * 1'000'000)};
        const run_plan early = plan_at(part, seven - hour, seven - hour + 3, 9);
        CHECK(early.occurrences.empty());
        CHECK(early.next_due == seven);
        CHECK(early.runs_left == 9);
        CHECK(early.missed == 0);
        const run_plan at_last = plan_at(part, seven, seven + 3, 9);
        CHECK(at_last.occurrences == plan_list{seven});
        CHECK(at_last.next_due == seven + plan_day);
    }
    const auto part_of = [&](task_misfire misfire) {
        return recurring_part{task_trigger::cron("0 7 * * *"), misfire,
                              nanoseconds((seven - 5 * plan_day) * 1'000'000)};
    };
    // An hour too late: the run was missed.
    const run_plan late = plan_at(part_of(task_misfire::fire_once()), seven + hour, seven + hour + 3, 9);
    CHECK(late.occurrences == plan_list{seven});
    CHECK(late.next_due == seven + plan_day);
    CHECK(plan_at(part_of(task_misfire::skip()), seven + hour, seven + hour + 3, 9).missed == 1);
    // The worker was away until after the right time.
    CHECK(plan_at(part_of(task_misfire::skip()), seven - hour, seven + 3, 9).occurrences == plan_list{seven});
    CHECK(plan_at(part_of(task_misfire::catch_up(5)), seven - hour, seven + plan_day + 3, 9).occurrences ==
          plan_list{seven, seven + plan_day});
}

TEST_CASE("plan_runs_with_jitter_are_not_taken_for_runs_of_other_rules") {
    cogwheel_tests::random_source random(3);
    for (int n = 0; n < 300; ++n) {
        const auto jitter = std::chrono::minutes(1 + random.below(300));
        const recurring_part part{task_trigger::cron("*/20 * * * *").jitter(jitter), task_misfire::catch_up(1'000),
                                  0ns};
        const nanoseconds point = std::chrono::hours(400'000) + std::chrono::minutes(20 * random.below(10'000));
        const std::int64_t due = detail::due_of(part.trigger, point, "id");
        CHECK(!plan_at(part, due, due + 3).occurrences.empty());
    }
}
