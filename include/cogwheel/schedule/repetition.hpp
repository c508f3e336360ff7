// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What intervals and tasks share: the number of runs without end, and the grid of a period.
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <chrono>
#include <cstdint>
#include <limits>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The number of runs or ticks that means "without end".
inline constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

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
