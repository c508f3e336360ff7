// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cron expressions against an oracle that tries every minute: written ones, and many at random.
#include "support/calendar/cron_oracle.hpp"
#include "support/random.hpp"

#include <cogwheel/calendar/cron.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono;

namespace {

std::string text_of(std::optional<local_seconds> at) {
    return at ? std::to_string(at->time_since_epoch().count()) : "none within the days searched";
}

// Follows both for some matches; nothing is said where the oracle finds none in time.
int compare_with_oracle(const std::string& expression, random_source& random, int matches, int days) {
    CAPTURE(expression);
    const cron_expression fast(expression);
    const cron_oracle slow(expression);
    const auto from = local_days(year(2020) / 1 / 1) + seconds(random.below(20ULL * 365 * 86400));
    local_seconds at = from;
    int compared = 0;
    for (; compared < matches; ++compared) {
        const auto want = slow.next(at, days);
        const auto got = fast.next(at);
        if (!want) {
            if (got && *got <= at + std::chrono::days(days))
                FAIL("a match that the oracle does not know: " << text_of(got));
            break;
        }
        if (got != want) FAIL("after " << text_of(at) << ": " << text_of(got) << " instead of " << text_of(want));
        CHECK(fast.matches(*got));
        const auto back = fast.previous(*got + seconds(1));
        if (back != got) FAIL("previous() of the second after " << text_of(got) << " is " << text_of(back));
        if (compared != 0 && fast.previous(*got) != at)
            FAIL("previous() of " << text_of(got) << " is not the match before");
        at = *got;
    }
    return compared;
}

std::string random_item(random_source& random, int lowest, int highest) {
    const auto some = [&](int from, int to) {
        return from + static_cast<int>(random.below(static_cast<std::uint64_t>(to - from + 1)));
    };
    const int a = some(lowest, highest);
    switch (random.below(5)) {
    case 0:
        return std::to_string(a) + "-" + std::to_string(some(a, highest));
    case 1:
        return std::to_string(a) + "-" + std::to_string(some(a, highest)) + "/" + std::to_string(some(1, 5));
    case 2:
        return "*/" + std::to_string(some(1, (highest - lowest) / 2 + 1));
    default:
        return std::to_string(a);
    }
}

std::string random_field(random_source& random, int lowest, int highest) {
    if (random.below(3) == 0) return "*";
    std::string field = random_item(random, lowest, highest);
    while (random.below(3) == 0) field += "," + random_item(random, lowest, highest);
    return field;
}

std::string random_expression(random_source& random) {
    static const char* const special_days[] = {"L", "LW", "1W", "15W", "31W", "L-3", "L-30", "10,L", "30W,5"};
    static const char* const special_weekdays[] = {"5L", "1#1", "0#5",     "7#2", "MON#3,FRIL",
                                                   "7",  "5-7", "FRI-SUN", "1-5"};
    std::string days = random_field(random, 1, 31), weekdays = random_field(random, 0, 6);
    if (random.below(4) == 0) days = special_days[random.below(std::size(special_days))];
    if (random.below(4) == 0) weekdays = special_weekdays[random.below(std::size(special_weekdays))];
    if (weekdays == "FRI-SUN") weekdays = "5-7";
    return random_field(random, 0, 59) + " " + random_field(random, 0, 23) + " " + days + " " +
           (random.below(2) == 0 ? "*" : random_field(random, 1, 12)) + " " + weekdays;
}

} // namespace

TEST_CASE("cron_written_expressions_agree_with_every_minute_tried") {
    random_source random(1);
    for (const char* expression : {"* * * * *",
                                   "*/5 * * * *",
                                   "0 0 * * *",
                                   "0 0 1 * *",
                                   "0 0 1 1 *",
                                   "30 4 1,15 * 5",
                                   "0 22 * * 1-5",
                                   "23 0-20/2 * * *",
                                   "5 4 * * SUN",
                                   "0 0,12 1 */2 *",
                                   "15 14 1 * *",
                                   "0 4 8-14 * *",
                                   "0 9 * * MON#1",
                                   "0 9 L * *",
                                   "0 9 LW * *",
                                   "0 9 15W * *",
                                   "0 9 1W * *",
                                   "0 9 31W * *",
                                   "0 0 29 2 *",
                                   "0 0 L 2 *",
                                   "0 0 */2 * 1",
                                   "0 0 1-7 * */7",
                                   "59 23 31 12 *",
                                   "0 0 * * 5L",
                                   "10-50/10 8-18/2 * JAN-MAR,DEC MON-FRI",
                                   "0 0 13 * 5",
                                   "0 0 ? * 2",
                                   "7 7 7 7 ?",
                                   "1/7 3/5 2/9 1/4 *"})
        compare_with_oracle(expression, random, 20, 1500);
}

TEST_CASE("cron_five_hundred_random_expressions_agree_with_every_minute_tried") {
    random_source random(2);
    int expressions = 0, matches = 0, impossible = 0;
    while (expressions < 500) {
        const std::string expression = random_expression(random);
        try {
            matches += compare_with_oracle(expression, random, 30, 800);
            ++expressions;
        } catch (const cron_error&) {
            ++impossible; // such as 31 in months of 30; that no match comes is compared below
            const cron_oracle slow(expression);
            CAPTURE(expression);
            CHECK(!slow.next(local_days(year(2023) / 1 / 1), 365 * 9).has_value());
        }
    }
    MESSAGE(expressions << " expressions, " << matches << " matches, " << impossible << " that never match");
    CHECK(matches > 5000);
}
