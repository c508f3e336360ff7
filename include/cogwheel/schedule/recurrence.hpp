// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a key of keyed_timers runs, and what add() does with a key or task name that exists.
#pragma once

#include <cogwheel/schedule/error.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace cogwheel {

/// A number of runs that means: without end.
inline constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

/// When the runs of a key are due.
///
///     cogwheel::recurrence::once(30s)                       // one run, 30 seconds from now
///     cogwheel::recurrence::every(1h, 24)                   // 24 runs, the first one an hour from now
///     cogwheel::recurrence{.delay = 0s, .period = 10s}      // now, and then every 10 seconds
struct recurrence {
    /// The time until the first run. Zero or less: at once.
    std::chrono::nanoseconds delay{};

    /// The time from run to run, on a grid that does not drift. Runs that are past are skipped. Above zero. Without a
    /// period there is one run.
    std::optional<std::chrono::nanoseconds> period{};

    /// The number of runs. At least 1. Default: one run without a period, and runs without end with one.
    std::optional<std::int64_t> times{};

    static constexpr recurrence once(std::chrono::nanoseconds delay) noexcept { return {.delay = delay}; }

    /// Returns a recurrence whose first run comes after one period.
    static constexpr recurrence every(std::chrono::nanoseconds period, std::int64_t times = forever) noexcept {
        return {.delay = period, .period = period, .times = times};
    }

    constexpr std::int64_t runs() const noexcept { return times.value_or(period ? forever : 1); }

    /// Returns schedule_errc::bad_period, schedule_errc::bad_times, or success.
    std::error_code check() const noexcept {
        if (period && *period <= std::chrono::nanoseconds::zero()) return schedule_errc::bad_period;
        if (runs() < 1) return schedule_errc::bad_times;
        if (runs() > 1 && !period) return schedule_errc::bad_period;
        return {};
    }
};

/// What add() does with a key, or the name of a task, that exists.
enum class on_duplicate {
    reject,  ///< returns schedule_errc::duplicate_key; the old one goes on
    replace, ///< removes the old one, which does not run any more, and adds the new one
    keep,    ///< returns success; the old one goes on
};

} // namespace cogwheel

namespace cogwheel::detail {

// A grid is a series of points, one period apart.

/// Returns how many points of the grid after `due` have come by `now`. Preconditions: period > 0.
constexpr std::int64_t points_passed(std::chrono::nanoseconds due, std::chrono::nanoseconds period,
                                     std::chrono::nanoseconds now) noexcept {
    return now > due ? saturating_add(now, -std::max(due, -std::chrono::nanoseconds::max())) / period : 0;
}

/// Returns the first point of the grid after `due` that has not come by `now`. Saturates. Preconditions: period > 0.
constexpr std::chrono::nanoseconds point_ahead(std::chrono::nanoseconds due, std::chrono::nanoseconds period,
                                               std::chrono::nanoseconds now) noexcept {
    return saturating_add(saturating_add(due, points_passed(due, period, now) * period), period);
}

} // namespace cogwheel::detail
