// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/text_values.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace cogwheeld;
using namespace std::chrono_literals;

namespace {

std::string again(std::string_view text) { return date_text(read_date(text)); }

} // namespace

TEST_CASE("dates_of_rfc_3339_are_read") {
    CHECK(read_date("1970-01-01T00:00:00Z") == wall_point{});
    CHECK(read_date("1970-01-01T00:00:00.000000001Z") == wall_point{1ns});
    CHECK(again("2026-11-27T10:00:00.25Z") == "2026-11-27T10:00:00.250Z");
    CHECK(again("2026-11-27t10:00:00z") == "2026-11-27T10:00:00.000Z");
    CHECK(again("2026-11-27 10:00:00Z") == "2026-11-27T10:00:00.000Z");
    CHECK(again("2026-11-27T10:00:00+01:30") == "2026-11-27T08:30:00.000Z");
    CHECK(again("2026-11-27T23:30:00-01:00") == "2026-11-28T00:30:00.000Z");
    CHECK(again("2026-11-27T10:00:00-00:00") == "2026-11-27T10:00:00.000Z");
    CHECK(again("2024-02-29T00:00:00Z") == "2024-02-29T00:00:00.000Z");
    CHECK(again("2016-12-31T23:59:60Z") == "2017-01-01T00:00:00.000Z"); // a leap second
    CHECK(again("2026-11-27T10:00:00.9999999999999Z") == "2026-11-27T10:00:00.999Z");
    CHECK(read_date("0001-01-01T00:00:00Z") < wall_point{-24h * 365 * 250});
    CHECK(again("2262-04-10T00:00:00Z") == "2262-04-10T00:00:00.000Z");
}

TEST_CASE("dates_that_do_not_exist_or_are_cut_are_refused") {
    for (const char* bad : {"",
                            "2026",
                            "2026-11-27",
                            "2026-11-27T10:00:00",
                            "2026-11-27T10:00Z",
                            "2026-11-27T10:00:00.Z",
                            "2026-11-27T10:00:00+0100",
                            "2026-11-27T10:00:00+24:00",
                            "2026-11-27T10:00:00+01:60",
                            "2026-11-27T24:00:00Z",
                            "2026-11-27T10:60:00Z",
                            "2026-11-27T10:00:61Z",
                            "2026-02-29T00:00:00Z",
                            "2026-02-30T00:00:00Z",
                            "2026-13-01T00:00:00Z",
                            "2026-00-01T00:00:00Z",
                            "2026-04-31T00:00:00Z",
                            "2026-04-00T00:00:00Z",
                            "0000-01-01T00:00:00Z",
                            "10000-01-01T00:00:00Z",
                            "-2026-01-01T00:00:00Z",
                            "+2026-01-01T00:00:00Z",
                            "2026-11-27T10:00:00ZZ",
                            " 2026-11-27T10:00:00Z",
                            "2026-11-27T10:00:00Z ",
                            "2026/11/27T10:00:00Z",
                            "2026-1-1T10:00:00Z",
                            "2026-11-27T10:00:00,5Z",
                            "9999-12-31T23:59:59Z",
                            "2262-04-12T00:00:00Z",
                            "now"}) {
        CAPTURE(std::string(bad));
        CHECK_THROWS_AS(read_date(bad), std::invalid_argument);
    }
}

TEST_CASE("durations_are_sums_of_numbers_with_units") {
    CHECK(read_duration("0s") == 0s);
    CHECK(read_duration("5s") == 5s);
    CHECK(read_duration("500ms") == 500ms);
    CHECK(read_duration("1.5s") == 1500ms);
    CHECK(read_duration(".5s") == 500ms);
    CHECK(read_duration("2.s") == 2s);
    CHECK(read_duration("1h30m") == 90min);
    CHECK(read_duration("1d2h3m4s5ms") == 24h + 2h + 3min + 4s + 5ms);
    CHECK(read_duration("0.1ms") == 100us);
    CHECK(read_duration("0.0000001ms") == 1ns); // rounded up: never early
    CHECK(read_duration("73000d") == 24h * 73'000);
    for (const char* bad : {"", "5", "s", "5x", "5 s", "-5s", "+5s", "1..5s", ".s", "5s ", " 5s", "1e3s", "5sec", "nan",
                            "inf", "0x5s", "73001d", "99999999999999999999999999999999d", "5\xc2\xb5s"}) {
        CAPTURE(std::string(bad));
        CHECK_THROWS_AS(read_duration(bad), std::invalid_argument);
    }
    CHECK_THROWS_AS(read_duration(std::string(400, '9') + "s"), std::invalid_argument);
}
