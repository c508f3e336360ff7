// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cron expressions: the forms there are, what is refused and where, and the words for them.
#include <cogwheel/calendar/cron.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace std::chrono;
using namespace std::chrono_literals;

namespace {

constexpr local_seconds at(int y, unsigned m, unsigned d, int hour = 0, int minute = 0, int second = 0) {
    return local_days(year(y) / month(m) / day(d)) + hours(hour) + minutes(minute) + seconds(second);
}

std::size_t column_of_fault(std::string_view expression, const std::string& said) {
    try {
        const cron_expression fine(expression);
        return 0;
    } catch (const cron_error& e) {
        const std::string what = e.what();
        CAPTURE(what);
        CHECK(what.find(said) != std::string::npos);
        CHECK(what.find(expression) != std::string::npos);
        CHECK(what.substr(what.rfind('\n') + 1) == std::string(2 + e.column() - 1, ' ') + "^");
        CHECK(what.starts_with("cogwheel::cron_expression: " + std::string(e.reason()) + '\n'));
        return e.column();
    }
}

std::string words(const char* expression) { return cron_expression(expression).describe(); }

} // namespace

TEST_CASE("cron_six_fields_begin_with_the_second") {
    const cron_expression every_ten("*/10 30 4 * * *");
    CHECK(every_ten.next(at(2026, 3, 1, 4, 29, 59)) == at(2026, 3, 1, 4, 30, 0));
    CHECK(every_ten.next(at(2026, 3, 1, 4, 30, 0)) == at(2026, 3, 1, 4, 30, 10));
    CHECK(every_ten.next(at(2026, 3, 1, 4, 30, 50)) == at(2026, 3, 2, 4, 30, 0));
    CHECK(every_ten.previous(at(2026, 3, 2, 4, 30, 0)) == at(2026, 3, 1, 4, 30, 50));
}

TEST_CASE("cron_macros_are_what_they_stand_for") {
    CHECK(cron_expression("@yearly") == cron_expression("0 0 1 1 *"));
    CHECK(cron_expression("@annually") == cron_expression("0 0 1 1 *"));
    CHECK(cron_expression("@monthly") == cron_expression("0 0 1 * *"));
    CHECK(cron_expression("@weekly") == cron_expression("0 0 * * 0"));
    CHECK(cron_expression("@daily") == cron_expression("0 0 * * *"));
    CHECK(cron_expression("@midnight ") == cron_expression("@daily"));
    CHECK(cron_expression("@HOURLY") == cron_expression("0 * * * *"));
}

TEST_CASE("cron_names_in_any_case_and_sunday_twice") {
    CHECK(cron_expression("0 0 * jan,Feb mon-FRI") == cron_expression("0 0 * 1,2 1-5"));
    CHECK(cron_expression("0 0 * * 7") == cron_expression("0 0 * * SUN"));
    CHECK(cron_expression("0 0 * * FRI-SUN") == cron_expression("0 0 * * 0,5,6"));
    CHECK(cron_expression("  0\t0  *  *  * ") == cron_expression("@daily"));
}

TEST_CASE("cron_ranges_go_past_the_end_of_their_field") {
    CHECK(cron_expression("0 22-4 * * *") == cron_expression("0 22,23,0,1,2,3,4 * * *"));
    CHECK(cron_expression("0 22-4/2 * * *") == cron_expression("0 22,0,2,4 * * *"));
    CHECK(cron_expression("0 21-4/2 * * *") == cron_expression("0 21,23,1,3 * * *"));
    CHECK(cron_expression("58-1 * * * *") == cron_expression("58,59,0,1 * * * *"));
    CHECK(cron_expression("59-0 * * * * *") == cron_expression("59,0 * * * * *"));
    CHECK(cron_expression("0 0 30-2 * *") == cron_expression("0 0 30,31,1,2 * *"));
    CHECK(cron_expression("0 0 1 NOV-FEB *") == cron_expression("0 0 1 11,12,1,2 *"));
    CHECK(cron_expression("0 0 1 12-11 *") == cron_expression("0 0 1 1-12 *"));
    CHECK(cron_expression("0 0 * * FRI-MON") == cron_expression("0 0 * * 5,6,0,1"));
    CHECK(cron_expression("0 22-4 * * *").next(at(2026, 6, 1) + 4h) == at(2026, 6, 1) + 22h);
}

TEST_CASE("cron_days_restricted_twice_match_either") {
    const cron_expression either("0 0 13 * FRI");
    CHECK(either.next(at(2026, 2, 7)) == at(2026, 2, 13)); // both
    CHECK(either.next(at(2026, 2, 13)) == at(2026, 2, 20));
    CHECK(either.next(at(2026, 4, 10)) == at(2026, 4, 13)); // a Monday
    const cron_expression both("0 0 */2 * MON");            // begins with a star: no restriction, so both
    CHECK(both.next(at(2026, 6, 1)) == at(2026, 6, 15));    // the 8th is even
}

TEST_CASE("cron_rare_days_are_found") {
    CHECK(cron_expression("0 0 29 2 *").next(at(2096, 3, 1)) == at(2104, 2, 29)); // 2100 is no leap year
    CHECK(cron_expression("0 0 29 2 *").previous(at(2104, 2, 29)) == at(2096, 2, 29));
    CHECK(cron_expression("0 0 ? 2 SUN#5").next(at(2026, 1, 1)) == at(2032, 2, 29));
    CHECK(!cron_expression("@yearly").next(at(9999, 1, 1)).has_value());
    CHECK(!cron_expression("@yearly").previous(at(0, 1, 1)).has_value());
    CHECK(!cron_expression("* * * * *").next(local_seconds::max()).has_value());
    CHECK(cron_expression("* * * * *").next(local_seconds::min()) == at(0, 1, 1));
}

TEST_CASE("cron_faults_are_marked_with_their_column") {
    CHECK(column_of_fault("60 * * * *", "minute must be 0 .. 59, but is 60") == 1);
    CHECK(column_of_fault("0 24 * * *", "hour must be 0 .. 23, but is 24") == 3);
    CHECK(column_of_fault("0 0 0 * *", "day of month must be 1 .. 31, but is 0") == 5);
    CHECK(column_of_fault("0 0 1 13 *", "month must be 1 .. 12, but is 13") == 7);
    CHECK(column_of_fault("0 0 1 * 8", "day of week must be 0 .. 7, but is 8") == 9);
    CHECK(column_of_fault("* * * * MOM", "unknown name; there are SUN .. SAT") == 9);
    CHECK(column_of_fault("* * * JANUARY *", "'U' does not belong here") == 10);
    CHECK(column_of_fault("*/0 * * * *", "a step must be 1 .. 59, but is 0") == 3);
    CHECK(column_of_fault("*/ * * * *", "there is nothing") == 3);
    CHECK(column_of_fault("1,,2 * * * *", "but here is ','") == 3);
    CHECK(column_of_fault("-5 * * * *", "but here is '-'") == 1);
    CHECK(column_of_fault("99999999999999999999 * * * *", "must be 0 .. 59") == 1);
    CHECK(column_of_fault("* * * *", "there are 4 fields") == 1);
    CHECK(column_of_fault("", "there are 0 fields") == 1);
    CHECK(column_of_fault("* * * * * * *", "there are 7 fields") == 1);
    CHECK(column_of_fault("@reboot", "'@reboot' is unknown") == 1);
    CHECK(column_of_fault("0 0 1-5W * *", "W takes one day") == 5);
    CHECK(column_of_fault("0 0 * * 1-5L", "L takes one day of the week") == 9);
    CHECK(column_of_fault("0 0 * * 5#6", "must be 1 .. 5, but is 6") == 11);
    CHECK(column_of_fault("0 0 * * L", "unknown name") == 9);
}

// What can be seen of the message, line by line.
TEST_CASE("cron_faults_in_text_that_cannot_be_shown") {
    const auto message = [](std::string_view expression) {
        try {
            const cron_expression fine(expression);
            return std::string("none");
        } catch (const cron_error& e) {
            return std::string(e.what()).substr(std::string("cogwheel::cron_expression: ").size());
        }
    };
    CHECK(message("0 0 * *\n*") == "the control character 0x0a does not belong here\n  0 0 * * *\n         ^");
    CHECK(message("0 0 1 * *\r") == "the control character 0x0d does not belong here\n  0 0 1 * * \n           ^");
    CHECK(message(std::string_view("0 0 * * 1\0", 10)).find("the control character 0x00") == 0);
    CHECK(message("\x1b[2J* * * * *").find("the control character 0x1b") == 0);
    CHECK(message("@d\x7f").find("the control character 0x7f") == 0);
    CHECK(message("0 0 1\xc2\x9b * *") ==
          "the control character 0xc2 0x9b does not belong here\n  0 0 1  * *\n       ^");
    CHECK(message("0 \xc3\xbc * * *") == "hour must be 0 .. 23, but here is '\xc3\xbc'\n  0 \xc3\xbc * * *\n    ^");
    CHECK(message("0 1\xc3\xbc * * 9") == "'\xc3\xbc' does not belong here\n  0 1\xc3\xbc * * 9\n     ^");
    CHECK(message("0 1\xc3 * * *") == "the byte 0xc3 does not belong here\n  0 1? * * *\n     ^");
    CHECK(message("0\t60\t* * *") == "hour must be 0 .. 23, but is 60\n  0 60 * * *\n    ^");
    CHECK(message("\xe6\x97\xa5 * * * *").find("here is '\xe6\x97\xa5'") != std::string::npos);
    CHECK(message("@\xc3\xbc\xff").find("'@\xc3\xbc?' is unknown") == 0);
}

TEST_CASE("cron_weekday_steps_begin_where_they_say_and_end_with_the_week") {
    struct {
        const char* field;
        std::vector<unsigned> days; // from Sunday
    } const table[] = {
        {"1/2", {1, 3, 5}},
        {"7/2", {0, 2, 4, 6}},
        {"0/2", {0, 2, 4, 6}},
        {"7/7", {0}},
        {"6/1", {6}},
        {"MON/3", {1, 4}},
        {"SUN/3", {0, 3, 6}},
        {"*/2", {0, 2, 4, 6}},
        {"*/7", {0}},
        {"1-5/2", {1, 3, 5}},
        {"FRI-MON", {0, 1, 5, 6}},
        {"7-2", {0, 1, 2}},
        {"5-2/2", {0, 2, 5}},
        {"SAT-FRI", {0, 1, 2, 3, 4, 5, 6}},
        {"5-7/2", {0, 5}},
        {"FRI-SUN", {0, 5, 6}},
        {"4/2,7", {0, 4, 6}},
        {"2/7", {2}},
        {"?/3", {0, 3, 6}},
    };
    for (const auto& t : table) {
        CAPTURE(std::string(t.field));
        const cron_expression e("0 0 * * " + std::string(t.field));
        for (unsigned w = 0; w != 7; ++w) {
            CAPTURE(w);
            const bool listed = std::find(t.days.begin(), t.days.end(), w) != t.days.end();
            CHECK(e.matches(at(2026, 11, 22 + w)) == listed); // a Sunday
        }
    }
    CHECK(column_of_fault("0 0 * * 1/8", "a step must be 1 .. 7, but is 8") == 11);
    CHECK(column_of_fault("0 0 * * 8/2", "day of week must be 0 .. 7, but is 8") == 9);
}

TEST_CASE("cron_numbers_beyond_32_and_64_bits_are_out_of_range") {
    for (const char* const n : {"4294967296", "4294967301", "8589934597", "18446744073709551616",
                                "18446744073709551621", "340282366920938463463374607431768211461"}) {
        const std::string number(n);
        CAPTURE(number);
        CHECK(column_of_fault(number + " * * * *", "minute must be 0 .. 59, but is " + number) == 1);
        CHECK(column_of_fault("* " + number + " * * *", "hour must be 0 .. 23, but is " + number) == 3);
        CHECK(column_of_fault("* * " + number + " * *", "day of month must be 1 .. 31, but is " + number) == 5);
        CHECK(column_of_fault("* * * " + number + " *", "month must be 1 .. 12, but is " + number) == 7);
        CHECK(column_of_fault("* * * * " + number, "day of week must be 0 .. 7, but is " + number) == 9);
        CHECK(column_of_fault("0-" + number + " * * * *", "minute must be 0 .. 59, but is " + number) == 3);
        CHECK(column_of_fault("*/" + number + " * * * *", "a step must be 1 .. 59, but is " + number) == 3);
        CHECK(column_of_fault("* * L-" + number + " * *", "but is " + number) == 7);
        CHECK(column_of_fault("* * * * 5#" + number, "must be 1 .. 5, but is " + number) == 11);
    }
}

TEST_CASE("cron_days_that_never_come_are_refused") {
    CHECK(column_of_fault("0 0 */31 * MON#2", "none is of this day of week and of this day of month") == 12);
    CHECK(column_of_fault("0 0 */31 2 5L", "none is of this day of week and of this day of month") == 12);
    CHECK(column_of_fault("0 0 30 2 */2", "look at the day of month and the month together") == 5);

    CHECK(column_of_fault("0 0 30 2 *", "no such day ever comes") == 5);
    CHECK(column_of_fault("0 0 31 4,6,9,11 *", "no such day ever comes") == 5);
    CHECK(column_of_fault("0 0 L-30 2 *", "no such day ever comes") == 5);
    CHECK(column_of_fault("0 0 30 2 MON", "") == 0); // Mondays come
    CHECK(column_of_fault("0 0 29 2 *", "") == 0);
}

TEST_CASE("cron_in_words") {
    CHECK(words("* * * * *") == "every minute");
    CHECK(words("*/5 * * * *") == "every 5 minutes");
    CHECK(words("0 12 * * MON-FRI") == "at 12:00, on Monday to Friday");
    CHECK(words("30 4 1,15 * 5") == "at 04:30, on the 1st and 15th or on Friday");
    CHECK(words("0 0,12 1 */2 *") ==
          "at 00:00 and 12:00, on the 1st, in January, March, May, July, September and November");
    CHECK(words("5 * * * *") == "at minute 5");
    CHECK(words("0 9-17 * * *") == "at minute 0 past hours 9 to 17");
    CHECK(words("*/15 */2 * * *") == "every 15 minutes of every 2 hours");
    CHECK(words("0 9 L * *") == "at 09:00, on the last day of the month");
    CHECK(words("0 9 L-3 * *") == "at 09:00, on 3 days before the last day of the month");
    CHECK(words("0 9 15W * *") == "at 09:00, on the working day nearest to the 15th of the month");
    CHECK(words("0 9 LW * *") == "at 09:00, on the last working day of the month");
    CHECK(words("0 9 * * FRI#2") == "at 09:00, on the 2nd Friday of the month");
    CHECK(words("0 9 * * 5L") == "at 09:00, on the last Friday of the month");
    CHECK(words("0 0 13 * */2") == "at 00:00, on the 13th if that is Sunday, Tuesday, Thursday and Saturday");
    CHECK(words("0 0 1-31 * MON") == "at 00:00"); // either: every day
    CHECK(words("0 0 15 * 0-6") == "at 00:00");
    CHECK(words("0 0 *,L * *") == "at 00:00");
    CHECK(words("0 0 * * *,FRIL") == "at 00:00");
    CHECK(words("30 0 12 * * *") == "at 12:00:30");
    CHECK(words("*/10 * * * * *") == "every 10 seconds");
    CHECK(words("@yearly") == "at 00:00, on the 1st, in January");
}
