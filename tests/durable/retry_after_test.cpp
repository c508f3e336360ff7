// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Retry-After: seconds, and the three forms of a date.
#include "src/durable/retry_after.hpp"

#include <doctest/doctest.h>

using cogwheel::detail::parse_http_date;
using cogwheel::detail::parse_retry_after;
using namespace std::chrono;
using namespace std::chrono_literals;

namespace {

constexpr sys_seconds rfc_moment = sys_days(1994y / November / 6) + 8h + 49min + 37s;

std::optional<seconds> wait_of(std::string_view text, sys_seconds now = rfc_moment) {
    return parse_retry_after(text, now, 24h);
}

} // namespace

TEST_CASE("retry_after_takes_seconds_up_to_the_cap") {
    CHECK(wait_of("0") == 0s);
    CHECK(wait_of("120") == 120s);
    CHECK(wait_of("  7\t") == 7s);
    CHECK(wait_of("0000000000000000000000000000007") == 7s);
    CHECK(wait_of("86400") == 24h);
    CHECK(wait_of("86401") == 24h);
    CHECK(wait_of("99999999999999999999999999999999999999") == 24h);
    CHECK(parse_retry_after("5", rfc_moment, 0s) == 0s);
    CHECK(parse_retry_after("57", rfc_moment, 3s) == 3s);
    for (const seconds most : {seconds::max(), seconds::max() - 1s, seconds::max() - 8s}) {
        CHECK(parse_retry_after("9223372036854775806", rfc_moment, most) == std::min(seconds::max() - 1s, most));
        CHECK(parse_retry_after("9223372036854775809", rfc_moment, most) == most);
        CHECK(parse_retry_after("99999999999999999999", rfc_moment, most) == most);
    }
}

TEST_CASE("retry_after_takes_each_form_of_a_date") {
    for (const char* text :
         {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
        INFO(text);
        CHECK(parse_http_date(text, rfc_moment) == rfc_moment);
        CHECK(wait_of(text, rfc_moment - 30s) == 30s);
        CHECK(wait_of(text, rfc_moment) == 0s);
        CHECK(wait_of(text, rfc_moment + 1s) == 0s);
        CHECK(wait_of(text, rfc_moment - days(2)) == 24h);
    }
    CHECK(parse_http_date("Wed Nov 16 08:49:37 1994", rfc_moment) == rfc_moment + days(10));
    CHECK(parse_http_date("Thu, 29 Feb 2024 23:59:60 GMT", rfc_moment) == sys_days(2024y / March / 1));
}

TEST_CASE("retry_after_reads_a_year_of_two_digits_near_the_present") {
    const auto year_read = [](const char* text, int present) {
        const auto date = parse_http_date(text, sys_days(year(present) / January / 1));
        return date ? static_cast<int>(year_month_day(floor<days>(*date)).year()) : 0;
    };
    CHECK(year_read("Friday, 01-Jan-27 00:00:00 GMT", 2026) == 2027);
    CHECK(year_read("Friday, 01-Jan-75 00:00:00 GMT", 2026) == 2075);
    CHECK(year_read("Friday, 01-Jan-76 00:00:00 GMT", 2026) == 1976);
    CHECK(year_read("Friday, 01-Jan-01 00:00:00 GMT", 2099) == 2101);
}

TEST_CASE("retry_after_that_is_neither_is_nothing") {
    for (const char* text : {"",
                             " ",
                             "-1",
                             "+1",
                             "1.5",
                             "1s",
                             "soon",
                             "Sun, 06 Nov 1994 08:49:37",
                             "Sun, 06 Nov 1994 08:49:37 UTC",
                             "Sun, 6 Nov 1994 08:49:37 GMT",
                             "Sun, 31 Feb 2024 00:00:00 GMT",
                             "Sun, 06 Nov 1994 24:00:00 GMT",
                             "Sun, 06 Nov 1994 00:60:00 GMT",
                             "Sun, 06 Nov 1994 00:00:61 GMT",
                             "Sun, 06 nov 1994 00:00:00 GMT",
                             "Xyz, 06 Nov 1994 00:00:00 GMT",
                             "Sun, 06 Nov 1994 00:00:00 GMT ,",
                             "Sun, 00 Nov 1994 00:00:00 GMT",
                             "Sun, 06 Nov 1969 00:00:00 GMT",
                             "Sunday, 06-Nov-1994 00:00:00 GMT",
                             "Sun Nov 6 08:49:37 1994"}) {
        INFO(text);
        CHECK(wait_of(text) == std::nullopt);
    }
}
