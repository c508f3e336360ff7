// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Texts, all of them: each ordinal of a month, and each beginning of a sequence of UTF-8.
#include <cogwheel/calendar/cron.hpp>
#include <cogwheel/tasks/task_table.hpp>

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <string>

using namespace cogwheel;

TEST_CASE("cron_in_words_every_day_of_the_month_has_its_ending") {
    for (int n = 1; n <= 31; ++n) {
        const std::string ending = n == 1 || n == 21 || n == 31 ? "st"
                                   : n == 2 || n == 22          ? "nd"
                                   : n == 3 || n == 23          ? "rd"
                                                                : "th";
        CHECK(cron_expression("0 0 " + std::to_string(n) + " * *").describe() ==
              "at 00:00, on the " + std::to_string(n) + ending + " of the month");
    }
}

// RFC 3629, locked_scope 4: which second byte may follow which first one.
TEST_CASE("json_keeps_exactly_the_sequences_that_are_utf8") {
    struct row {
        unsigned first, last, from, to;
        std::size_t length;
    };
    constexpr std::array table{row{0xc2, 0xdf, 0x80, 0xbf, 2}, row{0xe0, 0xe0, 0xa0, 0xbf, 3},
                               row{0xe1, 0xec, 0x80, 0xbf, 3}, row{0xed, 0xed, 0x80, 0x9f, 3},
                               row{0xee, 0xef, 0x80, 0xbf, 3}, row{0xf0, 0xf0, 0x90, 0xbf, 4},
                               row{0xf1, 0xf3, 0x80, 0xbf, 4}, row{0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (unsigned first = 0x80; first <= 0xff; ++first)
        for (unsigned second = 0x80; second <= 0xbf; ++second)
            for (std::size_t length = 2; length <= 4; ++length) {
                std::string name{static_cast<char>(first), static_cast<char>(second)};
                name.append(length - 2, '\x80');
                bool valid = false;
                for (const row& r : table)
                    valid = valid || (first >= r.first && first <= r.last && second >= r.from && second <= r.to &&
                                      length == r.length);
                task_info t;
                t.name = name;
                const std::string json = to_json(std::span(&t, 1));
                const bool kept = json.find('"' + name + '"') != json.npos;
                const bool replaced = json.find("\\ufffd") != json.npos;
                if (kept != valid || replaced == valid) {
                    CAPTURE(first);
                    CAPTURE(second);
                    CAPTURE(length);
                    CHECK(kept == valid);
                    CHECK(replaced != valid);
                }
            }
    task_info t;
    t.name = "\xf0\x9f\x98"; // cut off
    CHECK(to_json(std::span(&t, 1)).find("\"\\ufffd\\ufffd\\ufffd\"") != std::string::npos);
}

TEST_CASE("visible_text_has_a_space_for_each_control_character_alone") {
    for (unsigned c = 0; c < 0x80; ++c) {
        CAPTURE(c);
        const std::string text(1, static_cast<char>(c));
        CHECK(detail::visible_text(text) == (c < 0x20 || c == 0x7f ? " " : text));
    }
    for (unsigned c = 0x80; c < 0xc0; ++c) { // of two bytes
        CAPTURE(c);
        const std::string text{'\xc2', static_cast<char>(c)};
        CHECK(detail::visible_text(text) == (c < 0xa0 ? " " : text));
    }
}
