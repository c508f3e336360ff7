// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/asio/detail/clock/wheel_time.hpp>

#include <concepts>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class T>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

/// A duration, or a type that converts to a point in time of the clock, such as a deadline.
template <class T, class Clock>
concept when = is_duration<T> || std::convertible_to<const T&, typename Clock::time_point>;

/// Returns the point in time. Saturates: an implicit conversion of a far point with a coarser unit would overflow.
template <class Clock, class When>
constexpr typename Clock::time_point to_point(const When& w) noexcept {
    using time_point = typename Clock::time_point;
    if constexpr (requires { w.time_since_epoch(); } && !std::is_same_v<When, time_point>)
        return point_at<time_point>(saturate_to_ns(w.time_since_epoch()));
    else
        return w;
}

/// Returns what the engine takes: a delay from the present, or a point in time.
template <class Clock, when<Clock> When>
COGWHEEL_ALWAYS_INLINE constexpr auto time_of(const When& w) noexcept {
    if constexpr (is_duration<When>)
        return from_present{saturate_to_ns(w)};
    else
        return to_point<Clock>(w);
}

/// Returns the point in time. Reads the clock for a duration.
template <class Clock, when<Clock> When>
typename Clock::time_point point_of(const When& w) {
    if constexpr (is_duration<When>)
        return point_after(Clock::now(), w);
    else
        return to_point<Clock>(w);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
