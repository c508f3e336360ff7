// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cron expressions, on the clock on the wall. Which moment that is somewhere on earth: schedule/calendar.hpp.
//
//     const cogwheel::cron_expression noon("0 12 * * MON-FRI");
//     noon.next(local);                       // the first match after it
//     noon.describe();                        // "at 12:00, on Monday to Friday"
//
//     second (optional)  0-59        ,  list        5,10,15
//     minute             0-59        -  range       9-17, MON-FRI
//     hour               0-23        /  step        */5, 10-40/10, 30/10 (from 30 on)
//     day of month       1-31  L W   *  all         ?  the same, in the two fields for days
//     month              1-12, JAN-DEC
//     day of week        0-7, SUN-SAT (0 and 7 are Sunday)  L #
//
// Day of month: L the last, L-3 three days before it, 15W the weekday nearest to the 15th in its month, LW the last weekday.
// Day of week: 5L or FRIL the last Friday of the month, FRI#2 the second. Names in any case.
// @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. Where both fields for days are restricted, a day matches that is in
// either; one that begins with * is not a restriction, and then it has to be in both. All as Vixie's cron; L, W and # as Quartz's.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cogwheel {

/// What is wrong with an expression; what() quotes it, and marks the place in a second line. Control characters are quoted as spaces, and
/// bytes that are no UTF-8 as question marks.
class cron_error : public std::invalid_argument {
public:
    /// position: of the byte at fault, from 0.
    cron_error(std::string_view expression, std::size_t position, const std::string& why);

    /// Of the character at fault, from 1: as it is marked in what().
    std::size_t column() const noexcept { return column_; }

private:
    std::size_t column_;
};

/// A value: cheap to copy, no memory of its own. Thread safety: as an int.
class cron_expression {
public:
    using local_seconds = std::chrono::local_seconds;

    /// Errors: cron_error: a field out of range, a name unknown, a day that never comes (30 February).
    explicit cron_expression(std::string_view text);

    /// The first match after `after`. Nothing beyond the year 9999. Complexity: O(months between); some microseconds for rare ones.
    std::optional<local_seconds> next(local_seconds after) const;

    /// The last match before `before`. Nothing before the year 0.
    std::optional<local_seconds> previous(local_seconds before) const;

    bool matches(local_seconds at) const;

    /// In words, such as "every 5 minutes past hours 9 to 17, on the last Friday of the month".
    std::string describe() const;

    /// Does the field of minutes or that of hours begin with a star, as in * or */10? Such a job follows the clock where that is put forward
    /// or back; any other has its times of day, and runs at each of them once (schedule/cron_schedule.hpp). Vixie's cron's rule.
    bool follows_the_clock() const noexcept { return time_begins_with_star_; }

    friend bool operator==(const cron_expression&, const cron_expression&) = default;

private:
    friend class cron_parser;

    bool day_matches(std::chrono::year_month_day) const;

    std::uint64_t seconds_ = 0, minutes_ = 0; // a bit each
    std::uint32_t hours_ = 0;
    std::uint32_t days_ = 0;            // of the month, from bit 1
    std::uint32_t days_from_last_ = 0;  // bit n: L-n
    std::uint32_t nearest_weekday_ = 0; // bit n: nW
    std::uint16_t months_ = 0;          // from bit 1
    std::uint8_t weekdays_ = 0;         // from Sunday
    std::uint8_t last_weekdays_ = 0;    // 5L
    std::uint64_t nth_weekdays_ = 0;    // bit 7 * (n - 1) + weekday
    bool last_working_day_ = false;     // LW
    bool time_begins_with_star_ = false;
    bool days_begin_with_star_ = false, weekdays_begin_with_star_ = false;
};

} // namespace cogwheel
