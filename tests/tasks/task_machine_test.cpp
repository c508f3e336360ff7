// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which runs begin, wait or do not run: tables of what each policy says.
#include "src/tasks/task_machine.hpp"

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace std::chrono_literals;
using cogwheel::detail::task_machine;
using point_list = std::vector<std::chrono::nanoseconds>;

namespace {

task every_ten(task_misfire misfire, task_overlap overlap = task_overlap::allow) {
    task t;
    t.when = task_trigger::every(10s);
    t.misfire = misfire;
    t.overlap = overlap;
    return t;
}

task_machine begun(const task& t) {
    task_machine m(t, 1s);
    m.begin(0s);
    return m;
}

} // namespace

// Due at 10, 20, 30 ...; somebody looks at a moment that says how late the last one is, and how many came before it.
TEST_CASE("task_machine_misfire_policies_as_in_the_table") {
    struct line {
        task_misfire misfire;
        std::chrono::nanoseconds now;
        point_list begin;
        std::uint64_t missed;
        std::chrono::nanoseconds next;
    };
    const auto once = task_misfire::fire_once(), skip = task_misfire::skip();
    const auto two = task_misfire::catch_up(2), none = task_misfire::catch_up(0);
    const line table[] = {
        {once, 10s, {10s}, 0, 20s},     {once, 11s, {10s}, 0, 20s},
        {once, 12s, {10s}, 0, 20s},     {once, 20s, {20s}, 1, 30s},
        {once, 45s, {40s}, 3, 50s},     {skip, 10s, {10s}, 0, 20s},
        {skip, 11s, {10s}, 0, 20s},     {skip, 11s + 1ns, {}, 1, 20s},
        {skip, 20s, {20s}, 1, 30s},     {skip, 45s, {}, 4, 50s},
        {two, 10s, {10s}, 0, 20s},      {two, 15s, {10s}, 0, 20s},
        {two, 20s, {10s, 20s}, 0, 30s}, {two, 41s, {20s, 30s, 40s}, 1, 50s},
        {two, 45s, {30s, 40s}, 2, 50s}, {none, 45s, {}, 4, 50s},
        {none, 41s, {40s}, 3, 50s},     {once, 1'000'000'000s, {1'000'000'000s}, 99'999'999, 1'000'000'010s},
    };
    for (const line& l : table) {
        INFO(l.misfire.text(), " at ", l.now.count());
        task_machine m = begun(every_ten(l.misfire));
        CHECK(m.expired(l.now).begin == l.begin);
        CHECK(m.missed() == l.missed);
        CHECK(m.next() == l.next);
    }
}

TEST_CASE("task_machine_forbid_drops_what_comes_meanwhile") {
    task_machine m = begun(every_ten(task_misfire::fire_once(), task_overlap::forbid));
    CHECK(m.expired(10s).begin == point_list{10s});
    CHECK(m.expired(20s).begin.empty());
    CHECK(m.dropped() == 1);
    m.ended();
    CHECK(!m.begin_waiting().has_value());
    CHECK(m.expired(30s).begin == point_list{30s});
}

TEST_CASE("task_machine_forbid_with_catch_up_lets_the_last_wait") {
    task_machine m = begun(every_ten(task_misfire::catch_up(2), task_overlap::forbid));
    CHECK(m.expired(10s).begin == point_list{10s});
    for (const auto now : {20s, 30s, 40s}) CHECK(m.expired(now).begin.empty());
    CHECK(m.dropped() == 1);
    m.ended();
    CHECK(m.begin_waiting() == std::optional<std::chrono::nanoseconds>(30s));
    m.ended();
    CHECK(m.begin_waiting() == std::optional<std::chrono::nanoseconds>(40s));
    m.ended();
    CHECK(!m.begin_waiting().has_value());
}

TEST_CASE("task_machine_forbid_makes_up_for_missed_runs_one_after_the_other") {
    task_machine m = begun(every_ten(task_misfire::catch_up(3), task_overlap::forbid));
    CHECK(m.expired(45s).begin == point_list{20s});
    CHECK(m.active() == 1);
    m.ended();
    CHECK(m.begin_waiting() == std::optional<std::chrono::nanoseconds>(30s));
    CHECK(m.active() == 1);
}

TEST_CASE("task_machine_replace_tells_the_old_one_and_begins_when_it_has_ended") {
    task_machine m = begun(every_ten(task_misfire::fire_once(), task_overlap::replace));
    CHECK(m.expired(10s).begin == point_list{10s});
    auto d = m.expired(20s);
    CHECK(d.replace);
    CHECK(d.begin.empty());
    d = m.expired(30s); // the old one is still there
    CHECK(d.replace);
    CHECK(m.dropped() == 1);
    m.ended();
    CHECK(m.begin_waiting() == std::optional<std::chrono::nanoseconds>(30s));
}

TEST_CASE("task_machine_allow_runs_both") {
    task_machine m = begun(every_ten(task_misfire::fire_once(), task_overlap::allow));
    m.expired(10s);
    CHECK(m.expired(20s).begin == point_list{20s});
    CHECK(m.active() == 2);
}

TEST_CASE("task_machine_times_counts_runs_that_began") {
    task t = every_ten(task_misfire::fire_once(), task_overlap::forbid);
    t.when = t.when.times(2);
    task_machine m = begun(t);
    m.expired(10s);
    m.expired(20s); // dropped: it does not count
    CHECK(m.next() == std::optional<std::chrono::nanoseconds>(30s));
    m.ended();
    CHECK(!m.begin_waiting().has_value());
    CHECK(m.expired(30s).begin == point_list{30s});
    CHECK(!m.next().has_value());
    CHECK(!m.finished());
    m.ended();
    CHECK(m.finished());
}

TEST_CASE("task_machine_catch_up_never_exceeds_the_number_of_runs") {
    task t = every_ten(task_misfire::catch_up(10));
    t.when = t.when.times(3);
    task_machine m = begun(t);
    CHECK(m.expired(95s).begin == point_list{70s, 80s, 90s});
    CHECK(!m.next().has_value());
}

TEST_CASE("task_machine_once_that_is_skipped_is_finished") {
    task t;
    t.misfire = task_misfire::skip();
    task_machine m = begun(t);
    CHECK(m.expired(5s).begin.empty());
    CHECK(m.finished());
    CHECK(m.missed() == 1);
}

TEST_CASE("task_machine_cron_counts_what_was_missed") {
    task t = every_ten(task_misfire::catch_up(2));
    t.when = task_trigger::cron("*/5 * * * *");
    task_machine m(t, 1s);
    const auto noon = (std::chrono::sys_days(std::chrono::year(2026) / 11 / 22) + 12h).time_since_epoch();
    m.begin(noon);
    CHECK(m.next() == std::optional<std::chrono::nanoseconds>(noon)); // now is in time
    CHECK(m.expired(noon + 22min).begin == point_list{noon + 15min, noon + 20min});
    CHECK(m.missed() == 3);
    CHECK(m.next() == std::optional<std::chrono::nanoseconds>(noon + 25min));
}

TEST_CASE("task_machine_extreme_points_neither_overflow_nor_wrap") {
    task t = every_ten(task_misfire::skip());
    t.when = task_trigger::at(std::chrono::sys_days(std::chrono::year(1600) / 1 / 1));
    task_machine m(t, 1s);
    m.begin(std::chrono::nanoseconds::max() - 1s);
    CHECK(m.expired(std::chrono::nanoseconds::max() - 1s).begin.empty());
    CHECK(m.missed() == 1);

    task minutely = every_ten(task_misfire::catch_up(~0U));
    minutely.when = task_trigger::cron("* * * * *");
    task_machine eight_days(minutely, 1s);
    eight_days.begin(0s);
    CHECK(eight_days.expired(8 * 24h + 30s).begin.size() == 8 * 24 * 60 + 1);
    CHECK(eight_days.missed() == 0);
}

TEST_CASE("task_machine_allow_up_to_so_many_at_once") {
    task t = every_ten(task_misfire::fire_once());
    t.most_at_once = 2;
    task_machine m = begun(t);
    CHECK(m.expired(10s).begin == point_list{10s});
    CHECK(m.expired(20s).begin == point_list{20s});
    CHECK(m.expired(30s).begin.empty());
    CHECK(m.dropped() == 1);
    m.ended();
    CHECK(m.expired(40s).begin == point_list{40s});

    t.misfire = task_misfire::catch_up(1);
    task_machine waits = begun(t);
    for (const auto now : {10s, 20s}) CHECK(waits.expired(now).begin.size() == 1);
    for (const auto now : {30s, 40s}) CHECK(waits.expired(now).begin.empty());
    CHECK(waits.dropped() == 1);
    CHECK(!waits.begin_waiting());
    waits.ended();
    CHECK(waits.begin_waiting() == std::optional<std::chrono::nanoseconds>(40s));
    CHECK(waits.active() == 2);
    CHECK(!waits.begin_waiting());
}

TEST_CASE("task_machine_ends_at_its_last_point") {
    const auto ending = [](task_misfire misfire, std::chrono::nanoseconds last) {
        task_machine m(every_ten(misfire), 1s);
        m.ends_at(last);
        m.begin(0s);
        return m;
    };
    task_machine m = ending(task_misfire::fire_once(), 30s);
    CHECK(m.expired(10s).begin == point_list{10s});
    CHECK(m.expired(20s).begin == point_list{20s});
    CHECK(m.next() == std::optional<std::chrono::nanoseconds>(30s)); // the end belongs to it
    CHECK(m.expired(95s).begin == point_list{30s});
    CHECK(m.missed() == 0);
    CHECK(!m.next());
    task_machine late = ending(task_misfire::catch_up(9), 39s);
    CHECK(late.expired(95s).begin == point_list{10s, 20s, 30s});
    CHECK(!late.next());
    CHECK(!ending(task_misfire::skip(), 9s).next());
    task_machine again(every_ten(task_misfire::skip()), 1s);
    again.ends_at(30s);
    again.resume(40s, forever, 0, {}, 5s);
    CHECK(!again.next());
}

// As if the rules of the zone had changed by an hour since it was stored.
TEST_CASE("machine_takes_the_nearest_point_for_a_stored_one_that_is_none_any_more") {
    constexpr auto midnight = std::chrono::hours(24 * 20'000), seven = midnight + 7h;
    const auto next_of = [&](std::chrono::nanoseconds stored, std::chrono::nanoseconds now, bool changes) {
        task_machine machine({.name = "a", .when = task_trigger::cron("0 7 * * *"), .job = "x"}, 0s);
        CHECK(machine.resume(stored, forever, 0, {}, now) == changes);
        return machine.next().value();
    };
    CHECK(next_of(seven, midnight, false) == seven);
    CHECK(next_of(seven - 1h, midnight, true) == seven);
    CHECK(next_of(seven + 1h, midnight, true) == seven);
    CHECK(next_of(seven + 1h, seven + 1h, true) == seven); // late, and that is for the misfire policy
    CHECK(next_of(seven - 24h, midnight, false) == seven - 24h);
}
