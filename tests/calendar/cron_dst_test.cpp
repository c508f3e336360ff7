// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The nights in which the clocks are changed, as tables in UTC: what runs, by each policy.
#include "support/constant_names.hpp"

#include <cogwheel/calendar/cron_schedule.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono;

namespace {

constexpr sys_seconds utc(int y, unsigned m, unsigned d, int hour, int minute = 0) {
    return sys_days(year(y) / month(m) / day(d)) + hours(hour) + minutes(minute);
}

/// Runs from `from` on, before `to`; forwards, and backwards to see that these are the same.
std::vector<sys_seconds> runs(const char* zone, const char* expression, dst_policy policy, sys_seconds from,
                              sys_seconds to) {
    const cron_schedule schedule(cron_expression(expression), zone_info(zone), policy);
    std::vector<sys_seconds> forwards, backwards;
    for (auto at = schedule.next(from - seconds(1)); at && *at < to; at = schedule.next(*at)) forwards.push_back(*at);
    for (auto at = schedule.previous(to); at && *at >= from; at = schedule.previous(*at))
        backwards.insert(backwards.begin(), *at);
    CHECK(forwards == backwards);
    return forwards;
}

struct night {
    const char* zone;
    const char* expression;
    sys_seconds from, to;
    std::vector<sys_seconds> vixie, skip, follow_clock;
};

void check_nights(const std::vector<night>& nights) {
    for (const night& n : nights) {
        CAPTURE(n.zone);
        CAPTURE(n.expression);
        CHECK(runs(n.zone, n.expression, dst_policy::vixie, n.from, n.to) == n.vixie);
        CHECK(runs(n.zone, n.expression, dst_policy::skip, n.from, n.to) == n.skip);
        CHECK(runs(n.zone, n.expression, dst_policy::follow_clock, n.from, n.to) == n.follow_clock);
    }
}

} // namespace

TEST_CASE("dst_europe_berlin") {
    const auto spring = utc(2026, 3, 28, 12), after_spring = utc(2026, 3, 30, 12); // 29th, 02:00 -> 03:00 at 01:00 UTC
    const auto autumn = utc(2026, 10, 24, 12),
               after_autumn = utc(2026, 10, 26, 12); // 25th, 03:00 -> 02:00 at 01:00 UTC
    const auto third_day = utc(2026, 3, 30, 0, 30);
    check_nights({
        {"Europe/Berlin",
         "30 2 * * *",
         spring,
         after_spring,
         {utc(2026, 3, 29, 1), third_day},
         {third_day},
         {third_day}},
        {"Europe/Berlin",
         "0 2 * * *",
         spring,
         after_spring,
         {utc(2026, 3, 29, 1), utc(2026, 3, 30, 0)},
         {utc(2026, 3, 30, 0)},
         {utc(2026, 3, 30, 0)}},
        {"Europe/Berlin", "0,30 2 * * *", spring, utc(2026, 3, 29, 12), {utc(2026, 3, 29, 1)}, {}, {}}, // once for both
        {"Europe/Berlin",
         "0 2,3 * * *",
         spring,
         utc(2026, 3, 29, 12),
         {utc(2026, 3, 29, 1)},
         {utc(2026, 3, 29, 1)},
         {utc(2026, 3, 29, 1)}},
        {"Europe/Berlin",
         "30 1 * * *",
         spring,
         utc(2026, 3, 29, 12),
         {utc(2026, 3, 29, 0, 30)},
         {utc(2026, 3, 29, 0, 30)},
         {utc(2026, 3, 29, 0, 30)}},
        {"Europe/Berlin",
         "30 2 * * *",
         autumn,
         after_autumn,
         {utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)},
         {utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)},
         {utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 1, 30), utc(2026, 10, 26, 1, 30)}},
        {"Europe/Berlin",
         "0 3 * * *",
         autumn,
         utc(2026, 10, 25, 12),
         {utc(2026, 10, 25, 2)},
         {utc(2026, 10, 25, 2)},
         {utc(2026, 10, 25, 2)}},
        {"Europe/Berlin",
         "30 * * * *",
         utc(2026, 3, 29, 0),
         utc(2026, 3, 29, 3), // follows the clock
         {utc(2026, 3, 29, 0, 30), utc(2026, 3, 29, 1, 30), utc(2026, 3, 29, 2, 30)},
         {utc(2026, 3, 29, 0, 30), utc(2026, 3, 29, 1, 30), utc(2026, 3, 29, 2, 30)},
         {utc(2026, 3, 29, 0, 30), utc(2026, 3, 29, 1, 30), utc(2026, 3, 29, 2, 30)}},
        {"Europe/Berlin",
         "30 * * * *",
         utc(2026, 10, 25, 0),
         utc(2026, 10, 25, 3),
         {utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 1, 30), utc(2026, 10, 25, 2, 30)},
         {utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 1, 30), utc(2026, 10, 25, 2, 30)},
         {utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 1, 30), utc(2026, 10, 25, 2, 30)}},
    });
}

// Vixie's cron looks at the first character of the minutes and of the hours, not at what they come to.
TEST_CASE("dst_vixie_what_begins_with_a_star_follows_the_clock") {
    const auto spring = utc(2026, 3, 29, 0), after_spring = utc(2026, 3, 29, 3);
    const auto autumn = utc(2026, 10, 25, 0), after_autumn = utc(2026, 10, 25, 3);
    const auto of_spring = [&](const char* expression, dst_policy policy) {
        return runs("Europe/Berlin", expression, policy, spring, after_spring);
    };
    const auto of_autumn = [&](const char* expression, dst_policy policy) {
        return runs("Europe/Berlin", expression, policy, autumn, after_autumn);
    };
    using moments = std::vector<sys_seconds>;
    for (const dst_policy policy : {dst_policy::vixie, dst_policy::skip}) {
        // Steps are stars: nothing is made up for, and both hours count.
        CHECK(of_spring("*/30 2 * * *", policy) == moments{});
        CHECK(of_autumn("*/30 2 * * *", policy) ==
              moments{utc(2026, 10, 25, 0), utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 1), utc(2026, 10, 25, 1, 30)});
        CHECK(of_autumn("15 */2 * * *", policy) == moments{utc(2026, 10, 25, 0, 15), utc(2026, 10, 25, 1, 15)});
        CHECK(of_autumn("*,30 2 * * *", policy).size() == 120);
        CHECK(of_autumn("0 * 2 * * *", policy).size() == 120); // behind a field of seconds
        // All hours, or all minutes, without a star: so many fixed times.
        CHECK(of_autumn("15 0-23 * * *", policy) == moments{utc(2026, 10, 25, 0, 15), utc(2026, 10, 25, 2, 15)});
        CHECK(of_autumn("0-59 2 * * *", policy).size() == 60);
        CHECK(of_autumn("* 15 2 * * *", policy).size() == 60); // seconds are not Vixie's
        CHECK(of_autumn("0-59 * * * *", policy).size() == 180);
    }
    CHECK(of_spring("15 0-23 * * *", dst_policy::vixie) ==
          moments{utc(2026, 3, 29, 0, 15), utc(2026, 3, 29, 1), utc(2026, 3, 29, 1, 15), utc(2026, 3, 29, 2, 15)});
}

TEST_CASE("dst_america_new_york") {
    check_nights({
        // 8 March, 02:00 -> 03:00 at 07:00 UTC
        {"America/New_York",
         "30 2 * * *",
         utc(2026, 3, 8, 0),
         utc(2026, 3, 10, 0),
         {utc(2026, 3, 8, 7), utc(2026, 3, 9, 6, 30)},
         {utc(2026, 3, 9, 6, 30)},
         {utc(2026, 3, 9, 6, 30)}},
        // 1 November, 02:00 -> 01:00 at 06:00 UTC
        {"America/New_York",
         "30 1 * * *",
         utc(2026, 11, 1, 0),
         utc(2026, 11, 3, 0),
         {utc(2026, 11, 1, 5, 30), utc(2026, 11, 2, 6, 30)},
         {utc(2026, 11, 1, 5, 30), utc(2026, 11, 2, 6, 30)},
         {utc(2026, 11, 1, 5, 30), utc(2026, 11, 1, 6, 30), utc(2026, 11, 2, 6, 30)}},
    });
}

TEST_CASE("dst_australia_lord_howe_by_half_an_hour") {
    check_nights({
        // 4 October, 02:00 -> 02:30 at 15:30 UTC of the 3rd
        {"Australia/Lord_Howe",
         "15 2 * * *",
         utc(2026, 10, 3, 0),
         utc(2026, 10, 4, 23),
         {utc(2026, 10, 3, 15, 30), utc(2026, 10, 4, 15, 15)},
         {utc(2026, 10, 4, 15, 15)},
         {utc(2026, 10, 4, 15, 15)}},
        {"Australia/Lord_Howe",
         "45 2 * * *",
         utc(2026, 10, 3, 0),
         utc(2026, 10, 3, 23),
         {utc(2026, 10, 3, 15, 45)},
         {utc(2026, 10, 3, 15, 45)},
         {utc(2026, 10, 3, 15, 45)}},
        // 5 April, 02:00 -> 01:30 at 15:00 UTC of the 4th
        {"Australia/Lord_Howe",
         "45 1 * * *",
         utc(2026, 4, 4, 0),
         utc(2026, 4, 5, 23),
         {utc(2026, 4, 4, 14, 45), utc(2026, 4, 5, 15, 15)},
         {utc(2026, 4, 4, 14, 45), utc(2026, 4, 5, 15, 15)},
         {utc(2026, 4, 4, 14, 45), utc(2026, 4, 4, 15, 15), utc(2026, 4, 5, 15, 15)}},
    });
}

TEST_CASE("dst_africa_casablanca_for_ramadan") {
    check_nights({
        // 15 February, 03:00 -> 02:00 at 02:00 UTC
        {"Africa/Casablanca",
         "30 2 * * *",
         utc(2026, 2, 15, 0),
         utc(2026, 2, 17, 0),
         {utc(2026, 2, 15, 1, 30), utc(2026, 2, 16, 2, 30)},
         {utc(2026, 2, 15, 1, 30), utc(2026, 2, 16, 2, 30)},
         {utc(2026, 2, 15, 1, 30), utc(2026, 2, 15, 2, 30), utc(2026, 2, 16, 2, 30)}},
        // 22 March, 02:00 -> 03:00 at 02:00 UTC
        {"Africa/Casablanca",
         "30 2 * * *",
         utc(2026, 3, 22, 0),
         utc(2026, 3, 24, 0),
         {utc(2026, 3, 22, 2), utc(2026, 3, 23, 1, 30)},
         {utc(2026, 3, 23, 1, 30)},
         {utc(2026, 3, 23, 1, 30)}},
    });
}

TEST_CASE("cron_schedule_in_utc_is_the_expression") {
    const cron_schedule daily(cron_expression("0 12 * * *"));
    CHECK(daily.next(utc(2026, 3, 29, 12)) == utc(2026, 3, 30, 12));
    CHECK(daily.previous(utc(2026, 3, 29, 12)) == utc(2026, 3, 28, 12));
    CHECK(!daily.next(sys_seconds::max()).has_value());
    CHECK(!daily.previous(sys_seconds::min()).has_value());
}

// East of Greenwich the first local times of the year 0 are of the year before in UTC.
TEST_CASE("cron_schedule_before_the_first_moment_there_is_none") {
    const cron_schedule daily(cron_expression("0 0 * * *"), zone_info("Europe/Berlin"));
    CHECK(!daily.previous(utc(0, 1, 1, 0)).has_value());
    CHECK(!daily.previous(utc(0, 1, 1, 0) + seconds(1)).has_value());
}

TEST_CASE("cron_schedule_rare_days_over_many_changes_of_the_clock") {
    const cron_schedule leap(cron_expression("0 0 29 2 *"), zone_info("Europe/Berlin"));
    CHECK(leap.next(utc(2096, 3, 1, 0)) == utc(2104, 2, 28, 23));
    CHECK(leap.previous(utc(2104, 2, 28, 23)) == utc(2096, 2, 28, 23));
}

TEST_CASE("time_zone_rules_go_on_beyond_the_last_change_that_is_listed") {
    const auto offset = [](const char* zone, int y, unsigned m) {
        return zone_info(zone).stretch_at(utc(y, m, 1, 12)).offset;
    };
    for (const int y : {2026, 2037, 2038, 2040, 2099, 2100, 2400, 9999}) {
        CAPTURE(y);
        CHECK(offset("Europe/Berlin", y, 1) == hours(1));
        CHECK(offset("Europe/Berlin", y, 7) == hours(2));
        CHECK(offset("America/New_York", y, 1) == hours(-5));
        CHECK(offset("America/New_York", y, 7) == hours(-4));
        CHECK(offset("Asia/Tokyo", y, 7) == hours(9));
    }
    // The last Sunday of March 2040 is the 25th.
    CHECK(runs("Europe/Berlin", "30 2 * * *", dst_policy::vixie, utc(2040, 3, 24, 12), utc(2040, 3, 26, 12)) ==
          std::vector<sys_seconds>{utc(2040, 3, 25, 1), utc(2040, 3, 26, 0, 30)});
    CHECK(runs("Europe/Berlin", "0 0 1 1 *", dst_policy::vixie, utc(2036, 6, 1, 0), utc(2042, 6, 1, 0)).size() == 6);
    CHECK(zone_info("Europe/Berlin").stretch_at(sys_seconds::max()).offset == hours(1));
}

// A leap year is not as the last one with the same days, which may be that of 2012.
TEST_CASE("time_zone_rules_of_later_years_are_the_last_ones") {
    const zone_info moscow("Europe/Moscow"), sao_paulo("America/Sao_Paulo"), berlin("Europe/Berlin");
    for (int y = 2038; y != 2070; ++y) {
        CAPTURE(y);
        for (unsigned m = 1; m != 13; ++m) {
            CHECK(moscow.stretch_at(utc(y, m, 1, 12)).offset == hours(3));
            CHECK(sao_paulo.stretch_at(utc(y, m, 1, 12)).offset == hours(-3));
        }
        const sys_days march = year(y) / 3 / Sunday[last], october = year(y) / 10 / Sunday[last];
        CHECK(berlin.stretch_at(march + minutes(59)).offset == hours(1));
        CHECK(berlin.stretch_at(march + hours(1)).offset == hours(2));
        CHECK(berlin.stretch_at(october + minutes(59)).offset == hours(2));
        CHECK(berlin.stretch_at(october + hours(1)).offset == hours(1));
    }
    const zone_info::stretch winter = berlin.stretch_at(utc(2040, 2, 29, 0));
    CHECK(winter.begin == utc(2039, 10, 30, 1));
    CHECK(winter.end == utc(2040, 3, 25, 1));
    CHECK(berlin.stretch_at(winter.begin - seconds(1)).end == winter.begin);
}

TEST_CASE("time_zone_unknown_is_named") {
    try {
        const zone_info nowhere("Europe/Atlantis");
        FAIL_CHECK("found");
    } catch (const std::invalid_argument& e) {
        CHECK(std::string(e.what()).find("'Europe/Atlantis' is unknown") != std::string::npos);
    }
    CHECK(zone_info().name() == "UTC");
    CHECK(zone_info() == zone_info("UTC"));
    CHECK(zone_info("Europe/Berlin").name() == "Europe/Berlin");
    CHECK(zone_info("Europe/Berlin") == zone_info("Europe/Berlin"));
    CHECK(zone_info("Asia/Kolkata").to_local(utc(2026, 1, 1, 0)) ==
          local_days(year(2026) / 1 / 1) + hours(5) + minutes(30));
}

TEST_CASE("dst_policy_has_names") {
    check_names<dst_policy>(
        {{dst_policy::vixie, "vixie"}, {dst_policy::skip, "skip"}, {dst_policy::follow_clock, "follow_clock"}});
}
