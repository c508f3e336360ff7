// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The changes of the clocks in all later years. The footer of a time zone's file holds this rule as a POSIX TZ string
// (RFC 9636, section 3.3.2).
//
//     CET-1CEST,M3.5.0,M10.5.0/3       on the last Sunday of March and of October
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <array>
#include <chrono>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// From `at` on, local time = UTC + offset.
struct clock_change {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;
};

/// A POSIX TZ string, parsed.
class yearly_rule {
public:
    /// Parses the text. Errors: std::invalid_argument that quotes the text.
    explicit yearly_rule(std::string_view text);

    /// Returns false if standard time applies all year.
    bool changes() const noexcept { return changes_; }

    /// Returns the two changes of this year, the earlier one first. Preconditions: changes().
    std::array<clock_change, 2> in(std::chrono::year) const;

private:
    class reader;

    struct day_of_year {
        enum class kind { not_counting_leap_day, counting_leap_day, weekday };

        std::chrono::sys_days in(std::chrono::year) const;

        kind what = kind::weekday;
        unsigned number = 0; // from 1 if leap days do not count, from 0 if they do
        unsigned month = 0, week = 0, weekday = 0;
        // By the clock before the change. May be negative or more than a day, so the change may be on another day.
        std::chrono::seconds time = std::chrono::hours(2);
    };

    bool changes_ = false;
    std::chrono::seconds standard_{}, summer_{};
    day_of_year begin_, end_; // the days on which summer time begins and ends
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
