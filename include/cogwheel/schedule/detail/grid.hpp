// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Points a period apart.
#pragma once

#include <cogwheel/wheel/tick.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace cogwheel::detail {

/// How many points of the grid after `due` have come by `now`. Preconditions: period > 0.
constexpr std::int64_t points_passed(std::chrono::nanoseconds due, std::chrono::nanoseconds period,
                                     std::chrono::nanoseconds now) noexcept {
    return now > due ? saturating_add(now, -std::max(due, -std::chrono::nanoseconds::max())) / period : 0;
}

/// The first point after `due` that has not come by `now`. Saturates.
constexpr std::chrono::nanoseconds point_ahead(std::chrono::nanoseconds due, std::chrono::nanoseconds period,
                                               std::chrono::nanoseconds now) noexcept {
    return saturating_add(saturating_add(due, points_passed(due, period, now) * period), period);
}

} // namespace cogwheel::detail
