// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Between a clock's points and nanoseconds since its epoch, in which those decide who know no clock.
#pragma once

#include <cogwheel/wheel/tick.hpp>

#include <chrono>

namespace cogwheel::detail {

/// Reads the clock.
template <class Clock>
std::chrono::nanoseconds present() noexcept {
    return saturate_to_ns(Clock::now().time_since_epoch());
}

/// Rounded up: nothing is early by a coarse clock.
template <class TimePoint>
constexpr TimePoint point_at(std::chrono::nanoseconds since_epoch) noexcept {
    return TimePoint(std::chrono::ceil<typename TimePoint::duration>(since_epoch));
}

/// Saturates at both ends.
template <class TimePoint, class Rep, class Period>
TimePoint point_after(TimePoint now, std::chrono::duration<Rep, Period> delay) noexcept {
    return point_at<TimePoint>(saturating_add(saturate_to_ns(now.time_since_epoch()), saturate_to_ns(delay)));
}

/// From `from` to `to`, rounded up; saturates.
template <class TimePoint>
typename TimePoint::duration distance(TimePoint from, TimePoint to) noexcept {
    const std::chrono::nanoseconds before = saturate_to_ns(from.time_since_epoch());
    const auto ns =
        saturating_add(saturate_to_ns(to.time_since_epoch()), before == before.min() ? before.max() : -before);
    return std::chrono::ceil<typename TimePoint::duration>(ns);
}

} // namespace cogwheel::detail
