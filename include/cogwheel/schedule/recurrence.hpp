// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a key of keyed_timers runs, and what add() does if a key or task name is in use.
#pragma once

#include <cogwheel/schedule/error.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The number of runs or ticks that means "without end".
inline constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

/// When the runs of a key are due.
///
///     cogwheel::recurrence::once(30s)                       // one run, 30 seconds from now
///     cogwheel::recurrence::every(1h, 24)                   // 24 runs, the first one an hour from now
///     cogwheel::recurrence{.delay = 0s, .period = 10s}      // now, and then every 10 seconds
struct recurrence {
    /// The time until the first run. Zero or less: in the wheel's next turn, or at the end of its present tick.
    std::chrono::nanoseconds delay{};

    /// The time between runs; above zero. Runs lie on a fixed grid and do not drift. A late run still happens. Grid
    /// points that have passed by then are skipped, and `times` does not count them. Without a period there is one run.
    std::optional<std::chrono::nanoseconds> period{};

    /// The number of runs. At least 1. Default: without end if there is a period, else one run.
    std::optional<std::int64_t> times{};

    static constexpr recurrence once(std::chrono::nanoseconds delay) noexcept { return {.delay = delay}; }

    /// Returns a recurrence whose first run comes after one period.
    static constexpr recurrence every(std::chrono::nanoseconds period, std::int64_t times = forever) noexcept {
        return {.delay = period, .period = period, .times = times};
    }

    constexpr std::int64_t runs() const noexcept { return times.value_or(period ? forever : 1); }

    /// Returns schedule_errc::bad_period, schedule_errc::bad_times, or success.
    error_code check() const noexcept {
        if (period && *period <= std::chrono::nanoseconds::zero()) return schedule_errc::bad_period;
        if (runs() < 1) return schedule_errc::bad_times;
        if (runs() > 1 && !period) return schedule_errc::bad_period;
        return {};
    }
};

/// What add() does if the key, or the name of the task, is in use. The name of a finished task is not.
enum class on_duplicate {
    reject, ///< returns schedule_errc::duplicate_key; the old entry stays
    /// Removes the old entry, which begins no further run, and adds the new one. The new entry does not wait for a job
    /// of the old one that still runs.
    replace,
    /// Returns success; the old entry stays, the new one is not scheduled. But a task that has been cancelled, and
    /// whose job still runs, is replaced.
    keep,
};
std::string_view to_string(on_duplicate) noexcept; ///< the name of the constant

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

// A grid is a series of points, one period apart.

/// Returns how many points of the grid after `due` have come by `now`. Preconditions: period > 0.
constexpr std::int64_t points_passed(std::chrono::nanoseconds due, std::chrono::nanoseconds period,
                                     std::chrono::nanoseconds now) noexcept {
    constexpr std::chrono::nanoseconds first = -std::chrono::nanoseconds::max(); // its negative does not overflow
    return now > due ? saturating_add(now, -(due > first ? due : first)) / period : 0;
}

/// Returns the first point of the grid after `due` that has not come by `now`. Saturates. Preconditions: period > 0.
constexpr std::chrono::nanoseconds point_ahead(std::chrono::nanoseconds due, std::chrono::nanoseconds period,
                                               std::chrono::nanoseconds now) noexcept {
    return saturating_add(saturating_add(due, points_passed(due, period, now) * period), period);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
