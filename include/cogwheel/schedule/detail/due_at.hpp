// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The point at which a schedule's timer is due.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>

#include <algorithm>
#include <chrono>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns the point as nanoseconds since the clock's epoch. Saturates. A negative duration counts as zero.
template <class Clock, when<Clock> When>
std::chrono::nanoseconds due_at(const When& when) {
    if constexpr (is_duration<When>)
        return saturating_add(saturate_to_ns(Clock::now().time_since_epoch()),
                              std::max(saturate_to_ns(when), std::chrono::nanoseconds::zero()));
    else
        return saturate_to_ns(to_point<Clock>(when).time_since_epoch());
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
