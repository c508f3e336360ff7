// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Files of zones: rules of all kinds for later years, and files that are damaged, in every byte.
#include "src/calendar/zone_rules.hpp"
#include "support/calendar/zone_database.hpp"

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using detail::yearly_rule;
using detail::zone_rules;
using namespace std::chrono;

namespace {

constexpr sys_seconds rule_utc(int y, unsigned m, unsigned d, int hour = 0, int minute = 0) {
    return sys_days(year(y) / month(m) / day(d)) + hours(hour) + minutes(minute);
}

std::string tzif_number(std::int64_t n, int size) {
    std::string bytes;
    for (int i = size - 1; i >= 0; --i) bytes += static_cast<char>(n >> (8 * i) & 0xff);
    return bytes;
}

struct tzif {
    std::vector<std::pair<sys_seconds, int>> changes; // and the number of the type
    std::vector<seconds> offsets{seconds(0)};
    std::string footer = "";
    int leap_seconds = 0;
    char version = '2';

    std::string head(bool empty) const {
        const auto n = [empty](std::size_t count) {
            return tzif_number(empty ? 0 : static_cast<std::int64_t>(count), 4);
        };
        return std::string("TZif") + version + std::string(15, '\0') + n(0) + n(0) +
               n(static_cast<std::size_t>(leap_seconds)) + n(changes.size()) + n(offsets.size()) + n(4);
    }
    std::string bytes() const {
        std::string all = head(true) + head(false);
        for (const auto& [at, type] : changes) all += tzif_number(at.time_since_epoch().count(), 8);
        for (const auto& [at, type] : changes) all += tzif_number(type, 1);
        for (const seconds offset : offsets) all += tzif_number(offset.count(), 4) + std::string(2, '\0');
        all += std::string("ABC\0", 4) + std::string(static_cast<std::size_t>(12 * leap_seconds), '\0');
        return all + '\n' + footer + '\n';
    }
};

std::string tzif_complaint(const std::string& bytes) {
    try {
        const zone_rules rules("Test/Zone", bytes);
        return "none";
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

bool same_stretch(const zone_info::stretch& a, const zone_info::stretch& b) {
    return a.begin == b.begin && a.end == b.end && a.offset == b.offset;
}

} // namespace

TEST_CASE("yearly_rule_days_of_all_kinds") {
    struct {
        const char* text;
        sys_seconds first, second; // of 2028, a leap year
        seconds between;           // offset from the first on
    } const table[] = {
        {"CET-1CEST,M3.5.0,M10.5.0/3", rule_utc(2028, 3, 26, 1), rule_utc(2028, 10, 29, 1), hours(2)},
        {"EST5EDT,M3.2.0,M11.1.0", rule_utc(2028, 3, 12, 7), rule_utc(2028, 11, 5, 6), hours(-4)},
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", rule_utc(2028, 4, 1, 16), rule_utc(2028, 9, 30, 16), hours(10)},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", rule_utc(2028, 3, 26, 1), rule_utc(2028, 10, 29, 1), hours(-1)},
        {"IST-2IDT,M3.4.4/26,M10.5.0", rule_utc(2028, 3, 24, 0), rule_utc(2028, 10, 28, 23), hours(3)},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", rule_utc(2028, 4, 1, 15), rule_utc(2028, 9, 30, 15, 30),
         hours(10) + minutes(30)},
        {"AAA0BBB,J59/0,J60/0", rule_utc(2028, 2, 28), rule_utc(2028, 2, 29, 23), hours(1)},
        {"AAA0BBB,59/0,60/0", rule_utc(2028, 2, 29), rule_utc(2028, 2, 29, 23), hours(1)},
        {"AAA+0:0:30BBB-0:30,0/-167,365/167", rule_utc(2027, 12, 25, 1) + seconds(30), rule_utc(2029, 1, 6, 22, 30),
         minutes(30)},
    };
    for (const auto& t : table) {
        CAPTURE(t.text);
        const yearly_rule rule(t.text);
        REQUIRE(rule.changes());
        const auto both = rule.in(year(2028));
        CHECK(both[0].at == t.first);
        CHECK(both[1].at == t.second);
        CHECK(both[0].offset == t.between);
        CHECK(both[1].offset != t.between);
    }
    CHECK(yearly_rule("AAA0BBB,J60/0,J61/0").in(year(2027))[0].at == rule_utc(2027, 3, 1));
    CHECK(!yearly_rule("<+0545>-5:45").changes());
}

TEST_CASE("yearly_rule_texts_that_are_none_are_refused") {
    for (const char* const text : {"CET",
                                   "CE-1",
                                   "CET-",
                                   "CET-25",
                                   "CET-1CEST",
                                   "CET-1CEST,M3.5.0",
                                   "CET-1CEST,M3.5.0,M10.5.0/3x",
                                   "<+01-1",
                                   "CET-1CEST,M13.5.0,M10.5.0",
                                   "CET-1CEST,M3.6.0,M10.5.0",
                                   "CET-1CEST,M3.5.7,M10.5.0",
                                   "CET-1CEST,M3.0.0,M10.5.0",
                                   "CET-1CEST,J0,J5",
                                   "CET-1CEST,J366,J5",
                                   "CET-1CEST,366,5",
                                   "CET-1CEST,M3.5.0/168,M10.5.0",
                                   "CET-1:60",
                                   "CET-1CEST,M3,M10.5.0",
                                   "-1",
                                   "CET-99999999999999999999"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(yearly_rule{text}, std::invalid_argument);
    }
}

TEST_CASE("zone_rules_listed_changes_come_before_the_rule") {
    // Long after 2037, in standard time, in the middle of the rule's summer: that stays until the rule changes the
    // clocks next.
    const zone_rules z(
        "Test/Zone",
        tzif{{{rule_utc(2000, 1, 1), 1}, {rule_utc(2062, 6, 1), 0}}, {hours(1), hours(5)}, "CET-1CEST,M3.5.0,M10.5.0/3"}
            .bytes());
    CHECK(same_stretch(z.stretch_at(sys_seconds::min()), {sys_seconds::min(), rule_utc(2000, 1, 1), hours(1)}));
    CHECK(same_stretch(z.stretch_at(rule_utc(2000, 1, 1)), {rule_utc(2000, 1, 1), rule_utc(2062, 6, 1), hours(5)}));
    CHECK(same_stretch(z.stretch_at(rule_utc(2062, 7, 1)), {rule_utc(2062, 6, 1), rule_utc(2063, 3, 25, 1), hours(1)}));
    CHECK(same_stretch(z.stretch_at(rule_utc(2063, 3, 25, 1)),
                       {rule_utc(2063, 3, 25, 1), rule_utc(2063, 10, 28, 1), hours(2)}));
    CHECK(same_stretch(z.stretch_at(rule_utc(2100, 1, 1)),
                       {rule_utc(2099, 10, 25, 1), rule_utc(2100, 3, 28, 1), hours(1)}));
    CHECK(z.stretch_at(sys_seconds::max()).end == sys_seconds::max());
}

// Grand Turk, from 2015 to 2018: no daylight saving, and then the offset that was standard time before is that of
// summer.
TEST_CASE("zone_rules_begin_after_a_last_change_of_the_name_alone") {
    const zone_rules z("Test/Zone", tzif{{{rule_utc(2015, 3, 8, 7), 1}, {rule_utc(2018, 3, 11, 7), 2}},
                                         {hours(-5), hours(-4), hours(-4)},
                                         "EST5EDT,M3.2.0,M11.1.0"}
                                        .bytes());
    for (const sys_seconds at : {rule_utc(2015, 3, 8, 7), rule_utc(2016, 1, 1), rule_utc(2018, 7, 1)})
        CHECK(same_stretch(z.stretch_at(at), {rule_utc(2015, 3, 8, 7), rule_utc(2018, 11, 4, 6), hours(-4)}));
    CHECK(same_stretch(z.stretch_at(rule_utc(2019, 1, 1)),
                       {rule_utc(2018, 11, 4, 6), rule_utc(2019, 3, 10, 7), hours(-5)}));
}

TEST_CASE("zone_rules_without_a_rule_stay_as_listed_last") {
    for (const char* const footer : {"", "<+05>-5"}) {
        const zone_rules z("Test/Zone",
                           tzif{{{rule_utc(2000, 1, 1), 1}, {rule_utc(2001, 1, 1), 2}},
                                {hours(1), hours(5), hours(5)}, // the second change is one of the name alone
                                footer}
                               .bytes());
        CHECK(same_stretch(z.stretch_at(rule_utc(2040, 1, 1)), {rule_utc(2000, 1, 1), sys_seconds::max(), hours(5)}));
    }
}

TEST_CASE("zone_rules_with_nothing_listed_are_the_rule") {
    const zone_rules z("Test/Zone", tzif{{}, {hours(1)}, "CET-1CEST,M3.5.0,M10.5.0/3"}.bytes());
    CHECK(same_stretch(z.stretch_at(rule_utc(2040, 7, 1)),
                       {rule_utc(2040, 3, 25, 1), rule_utc(2040, 10, 28, 1), hours(2)}));
    CHECK(same_stretch(z.stretch_at(rule_utc(1940, 7, 1)),
                       {rule_utc(1940, 3, 31, 1), rule_utc(1940, 10, 27, 1), hours(2)}));
    CHECK(z.stretch_at(sys_seconds::min()).begin == sys_seconds::min());
}

TEST_CASE("zone_rules_summer_time_all_year") {
    const zone_rules z("Test/Zone",
                       tzif{{{rule_utc(2020, 3, 8, 7), 1}}, {hours(-5), hours(-4)}, "EST5EDT,0/0,J365/25"}.bytes());
    for (int y = 2021; y != 2030; ++y) {
        CAPTURE(y);
        for (const sys_seconds at :
             {rule_utc(y, 1, 1, 4, 59), rule_utc(y, 1, 1, 5), rule_utc(y, 7, 1), rule_utc(y, 12, 31, 23)})
            CHECK(z.stretch_at(at).offset == hours(-4));
    }
}

TEST_CASE("zone_rules_files_that_are_none_are_refused_with_the_reason") {
    const tzif good{{{rule_utc(2000, 1, 1), 0}}, {hours(1)}, "CET-1"};
    CHECK(tzif_complaint(good.bytes()) == "none");
    const auto complaint_of = [&](auto spoil) {
        tzif spoilt = good;
        spoil(spoilt);
        return tzif_complaint(spoilt.bytes());
    };
    CHECK(tzif_complaint("") == "it is no file of the tz database");
    CHECK(tzif_complaint("# comment\n") == "it is no file of the tz database");
    CHECK(complaint_of([](tzif& f) { f.version = '\0'; }).find("32 bits") != std::string::npos);
    CHECK(complaint_of([](tzif& f) { f.leap_seconds = 1; }).find("leap seconds") != std::string::npos);
    CHECK(complaint_of([](tzif& f) { f.offsets.clear(); }) == "it has no local time");
    CHECK(complaint_of([](tzif& f) { f.changes[0].second = 1; }) == "its changes make no sense");
    CHECK(complaint_of([](tzif& f) { f.changes.push_back(f.changes[0]); }) == "its changes make no sense");
    CHECK(complaint_of([](tzif& f) { f.offsets[0] = hours(27); }) == "it is a day and more from UTC");
    CHECK(complaint_of([](tzif& f) { f.offsets[0] = hours(26) + seconds(1); }) == "it is a day and more from UTC");
    CHECK(complaint_of([](tzif& f) { f.offsets[0] = -hours(26) - seconds(1); }) == "it is a day and more from UTC");
    CHECK(complaint_of([](tzif& f) { f.offsets[0] = hours(26); }) == "none");
    CHECK(complaint_of([](tzif& f) { f.offsets[0] = -hours(26); }) == "none");
    CHECK(complaint_of([](tzif& f) { f.footer = "CET"; }).find("'CET'") != std::string::npos);
}

TEST_CASE("zone_rules_of_a_damaged_file_are_refused_or_some_rules") {
    const std::string good = bytes_of("/usr/share/zoneinfo/Europe/Berlin");
    REQUIRE(tzif_complaint(good) == "none");
    for (std::size_t size = 0; size != good.size(); ++size) {
        CAPTURE(size);
        CHECK(tzif_complaint(good.substr(0, size)) != "none");
    }
    for (std::size_t i = 0; i != good.size(); ++i) {
        for (const int flip : {0x01, 0x80, 0xff}) {
            std::string bad = good;
            bad[i] = static_cast<char>(bad[i] ^ flip);
            try {
                const zone_rules rules("Test/Zone", bad);
                for (const sys_seconds at :
                     {sys_seconds::min(), rule_utc(1970, 1, 1), rule_utc(2030, 1, 1), sys_seconds::max()}) {
                    const zone_info::stretch s = rules.stretch_at(at);
                    CHECK(s.begin <= at);
                    CHECK((at < s.end || s.end == sys_seconds::max()));
                }
            } catch (const std::invalid_argument&) {
            }
        }
    }
}

TEST_CASE("time_zone_names_do_not_lead_out_of_the_directory") {
    const scratch_directory scratch;
    std::filesystem::create_directories(scratch / "zones/Own");
    put_bytes(scratch / "zones/Own/Zone", tzif{{}, {hours(3)}, "<+03>-3"}.bytes());
    put_bytes(scratch / "outside", tzif{{}, {hours(3)}, "<+03>-3"}.bytes());
    put_bytes(scratch / "zones/Own/Bad", "TZif2");
    const environment_variable tzdir("TZDIR", scratch / "zones");
    CHECK(zone_info("Own/Zone").stretch_at(rule_utc(2026, 1, 1)).offset == hours(3));
    const auto why = [](const std::string& name) {
        try {
            return zone_info(name).name();
        } catch (const std::invalid_argument& e) {
            return std::string(e.what());
        }
    };
    for (const std::string& name : {std::string("../outside"), (scratch / "outside").string(), std::string("Own"),
                                    std::string(), std::string("Own/Zone\0", 9), std::string("Own/Zone\n")}) {
        CAPTURE(name);
        CHECK(why(name).find("is unknown") != std::string::npos);
        CHECK(why(name).find(scratch / "zones") != std::string::npos);
        CHECK(why(name).find('\n') == std::string::npos);
    }
    CHECK(why("Own/Bad").find("'Own/Bad' cannot be read from") != std::string::npos);
    CHECK(why("Own/Bad").find("it is cut short") != std::string::npos);
}
