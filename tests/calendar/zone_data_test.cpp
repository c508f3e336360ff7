// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// All zones of the tz database, in both layouts of their files, against the C library, from 1990 to 2100: on both sides
// of each change, and at steps of ten days between. By hand, every three hours:
// COGWHEEL_ZONE_STEP=10800 calendar_tests
#include "support/calendar/zone_database.hpp"

#include <cogwheel/calendar/cron_schedule.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono;

namespace {

constexpr sys_seconds first_compared = sys_days(year(1990) / 1 / 1), end_compared = sys_days(year(2101) / 1 / 1);

const zone_database& compiled_zones() {
    static const zone_database compiled;
    return compiled;
}

seconds step_between() {
    const char* const said = std::getenv("COGWHEEL_ZONE_STEP");
    return said != nullptr ? seconds(std::max(std::atol(said), 1L)) : days(10);
}

struct difference {
    sys_seconds at;
    seconds ours;
};

// Moments at which the C library says something else of the same file.
std::vector<difference> differences(const char* layout, const std::string& name, std::uint64_t& compared) {
    const environment_variable tzdir("TZDIR", compiled_zones().directory(layout));
    const c_library_zone theirs(compiled_zones().directory(layout) + '/' + name);
    const zone_info ours(name);
    std::vector<difference> found;
    const auto compare = [&](sys_seconds at, seconds offset) {
        if (!theirs.knows(at)) return;
        ++compared;
        if (theirs.offset(at) != offset) found.push_back({at, offset});
    };
    const seconds step = step_between();
    sys_seconds at = first_compared;
    for (zone_info::stretch s = ours.stretch_at(first_compared); s.begin < end_compared; s = ours.stretch_at(s.end)) {
        if (s.begin > first_compared) compare(s.begin - seconds(1), ours.stretch_at(s.begin - seconds(1)).offset);
        if (s.begin > first_compared) compare(s.begin, s.offset);
        for (; at < std::min(s.end, end_compared); at += step) compare(at, s.offset);
        if (s.end >= end_compared) break;
    }
    return found;
}

// zic 2.36 writes slim files of a few zones that do not say what the fat ones say. What those say is right as well.
bool is_right_by_the_fat_file(const std::string& name, const std::vector<difference>& all) {
    const c_library_zone theirs(compiled_zones().directory("fat") + '/' + name);
    return std::all_of(all.begin(), all.end(), [&](const difference& d) { return theirs.offset(d.at) == d.ours; });
}

} // namespace

TEST_CASE("zone_data_of_all_zones_in_both_layouts_as_the_c_library_reads_it") {
    std::uint64_t compared = 0;
    std::vector<std::string> wrong;
    const std::vector<std::string> names = compiled_zones().names();
    REQUIRE(names.size() > 400);
    for (const std::string& name : names) {
        if (!differences("fat", name, compared).empty()) wrong.push_back(name + " (fat)");
        const auto slim = differences("slim", name, compared);
        if (!slim.empty() && !is_right_by_the_fat_file(name, slim)) wrong.push_back(name + " (slim)");
    }
    MESSAGE(names.size(), " zones, ", compared, " moments");
    for (const std::string& zone : wrong) FAIL_CHECK(zone);
}

// Without the footer of a slim file, its last change holds for ever: that of some October or March long ago.
TEST_CASE("zone_data_that_ends_in_a_rule_runs_in_january_and_july_at_the_same_local_time") {
    const auto noon = [](const char* zone, int y, unsigned m) {
        const cron_schedule s(cron_expression("0 12 1 * *"), zone_info(zone));
        return *s.next(sys_days(year(y) / month(m) / 1) - hours(24)) - sys_days(year(y) / month(m) / 1);
    };
    for (const char* const layout : {"slim", "fat"}) {
        const environment_variable tzdir("TZDIR", compiled_zones().directory(layout));
        for (const int y : {2026, 2030, 2037, 2038, 2050, 2100, 2500, 9000}) {
            CAPTURE(layout);
            CAPTURE(y);
            CHECK(noon("Europe/Berlin", y, 1) == hours(11));
            CHECK(noon("Europe/Berlin", y, 7) == hours(10));
            CHECK(noon("America/New_York", y, 1) == hours(17));
            CHECK(noon("America/New_York", y, 7) == hours(16));
            CHECK(noon("Australia/Sydney", y, 1) == hours(1));
            CHECK(noon("Australia/Sydney", y, 7) == hours(2));
        }
    }
}

TEST_CASE("zone_data_of_another_directory_is_another_zone") {
    const zone_info here("Europe/Berlin");
    const environment_variable tzdir("TZDIR", compiled_zones().directory("slim"));
    const zone_info there("Europe/Berlin");
    CHECK(here != there);
    CHECK(there == zone_info("Europe/Berlin"));
    CHECK(here.name() == there.name());
}
