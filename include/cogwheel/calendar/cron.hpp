// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cron expressions in local time. cron_schedule.hpp adds time zones, schedule/wall_clock.hpp waits for a date.
//
//     const cogwheel::cron_expression noon("0 12 * * MON-FRI");
//     noon.next(local);                       // the first match after `local`
//     noon.describe();                        // "at 12:00, on Monday to Friday"
//
//     second (optional)  0-59        ,  list        5,10,15
//     minute             0-59        -  range       9-17, MON-FRI, 22-4 (22 to 23, and 0 to 4), FRI-MON
//     hour               0-23        /  step        */5, 10-40/10, 30/10 (from 30 on)
//     day of month       1-31  L W   *  all         ?  the same, in the two day fields
//     month              1-12, JAN-DEC
//     day of week        0-7, SUN-SAT (0 and 7 are Sunday)  L #
//
// Day of month: L is the last day, L-3 the third day before it, LW the last working day (Monday to Friday). 15W is the
// working day nearest to the 15th in the same month. Day of week: 5L or FRIL is the last Friday of the month, FRI#2 the
// second. Names and letters may be in upper or lower case.
// Macros: @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly.
// If a day field begins with * or ?, a day must match both day fields. Otherwise it must match at least one of them.
// This rule is Vixie's. The field of seconds, L, W, #, ? and 30/10 come from Quartz.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Says what is wrong with an expression. what() quotes the expression and marks the place on the next line. Control
/// characters appear as spaces, bytes that are not UTF-8 as question marks.
///
///     try { cogwheel::cron_expression("0 0 1 * 8"); }
///     catch (const cogwheel::cron_error& e) { std::cerr << e.what(); } // column() is 9
class cron_error : public std::invalid_argument {
public:
    /// `position`: the index of the wrong byte, from 0.
    cron_error(std::string_view expression, std::size_t position, const std::string& why);

    /// Returns the reason alone, in one line: "day of week must be 0 .. 7, but is 8". Lifetime: that of the exception.
    std::string_view reason() const noexcept { return std::string_view(what()).substr(begin, reason_size_); }

    /// Returns the column that what() marks, from 1, as a terminal shows the expression.
    std::size_t column() const noexcept { return column_; }

private:
    static constexpr std::size_t begin = std::string_view("cogwheel::cron_expression: ").size(); // of the reason

    std::size_t column_, reason_size_;
};

/// The points in local time that an expression matches. A value: cheap to copy, no heap memory.
/// Thread safety: any thread may call const functions.
class cron_expression {
public:
    using local_seconds = std::chrono::local_seconds;

    /// Parses an expression. Errors: cron_error, such as for a wrong number of fields, a value out of range, an unknown
    /// name, or a day that never comes (30 February).
    explicit cron_expression(std::string_view text);

    /// Returns the first match after `after` in the years 0 to 9999, or nothing if there is none.
    /// Complexity: O(months up to the match + days of the matching months).
    std::optional<local_seconds> next(local_seconds after) const;

    /// Returns the last match before `before`, with the limits and complexity of next().
    std::optional<local_seconds> previous(local_seconds before) const;

    bool matches(local_seconds at) const;

    /// Returns the expression in words, such as "every 5 minutes past hours 9 to 17, on the last Friday of the month".
    std::string describe() const;

    /// Returns true if the minute field or the hour field begins with a star, as in * or */10. Such an expression runs
    /// whenever the local time matches. All others have fixed times of day; dst_policy (cron_schedule.hpp) says when
    /// they run on days when the clocks change. This is the rule of Vixie's cron.
    bool follows_the_clock() const noexcept { return time_begins_with_star_; }

    friend bool operator==(const cron_expression&, const cron_expression&) = default;

private:
    friend class cron_parser;

    bool day_matches(std::chrono::year_month_day) const;

    std::uint64_t seconds_ = 0, minutes_ = 0; // bit n is set if n matches
    std::uint32_t hours_ = 0;
    std::uint32_t days_ = 0;            // of the month, from bit 1
    std::uint32_t days_from_last_ = 0;  // bit n: L-n
    std::uint32_t nearest_weekday_ = 0; // bit n: nW
    std::uint16_t months_ = 0;          // from bit 1
    std::uint8_t weekdays_ = 0;         // bit 0 is Sunday
    std::uint8_t last_weekdays_ = 0;    // 5L
    std::uint64_t nth_weekdays_ = 0;    // bit 7 * (n - 1) + weekday
    bool last_working_day_ = false;     // LW
    bool time_begins_with_star_ = false;
    bool days_begin_with_star_ = false, weekdays_begin_with_star_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
