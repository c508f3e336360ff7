// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When clocks are changed in every year to come: the footer of a time zone's file, which is a POSIX TZ string (RFC 9636, section 3.3.2).
//
//     CET-1CEST,M3.5.0,M10.5.0/3       on the last Sunday of March and of October
#pragma once

#include <array>
#include <chrono>
#include <string_view>

namespace cogwheel::detail {

/// From `at` on local time is ahead of UTC by `offset`.
struct clock_change {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;
};

class yearly_rule {
public:
    /// Errors: std::invalid_argument that quotes the text.
    explicit yearly_rule(std::string_view text);

    /// False: it is standard time all year.
    bool changes() const noexcept { return changes_; }

    /// The year's two changes, the earlier one first. Precondition: changes().
    std::array<clock_change, 2> in(std::chrono::year) const;

private:
    class reader;

    struct day_of_year {
        enum class kind { not_counting_leap_day, counting_leap_day, weekday };

        std::chrono::sys_days in(std::chrono::year) const;

        kind what = kind::weekday;
        unsigned number = 0; // from 1 without leap days, from 0 with them
        unsigned month = 0, week = 0, weekday = 0;
        std::chrono::seconds time =
            std::chrono::hours(2); // by the clock as it was before the change; also of other days
    };

    bool changes_ = false;
    std::chrono::seconds standard_{}, summer_{};
    day_of_year begin_, end_; // of summer time
};

} // namespace cogwheel::detail
