// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of all idle monitors and of all requests on one wheel.
//
//     const cogwheel::idle_stats idle = cogwheel::idle_stats_of(wheel);
//     report(idle.monitors, idle.reader);
//     report(cogwheel::request_stats_of(wheel).timed_out);
#pragma once

#include <cogwheel/net/detail/overload.hpp>
#include <cogwheel/net/detail/request_totals.hpp>
#include <cogwheel/net/idle_stats.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns the counts of the idle monitors of `wheel`, also inside idle_streams. O(1). Thread safety: the wheel's.
template <any_timer_wheel Wheel>
idle_stats idle_stats_of(const Wheel& wheel) noexcept {
    auto& state = detail::impl_of(wheel);
    const auto lock = state.lock();
    const auto* all = state.template find_extension<detail::overload<typename detail::impl_type<Wheel>::engine>>();
    return all != nullptr ? all->stats() : idle_stats();
}

/// Returns the sums of the counts of all pending_requests on `wheel`, also of those that have been destroyed. `refused`
/// and `late` of a pending_requests are added when it is destroyed, and whenever it has delivered its ended requests.
/// Complexity: O(1). Thread safety: the wheel's.
template <any_timer_wheel Wheel>
request_stats request_stats_of(const Wheel& wheel) noexcept {
    auto& state = detail::impl_of(wheel);
    const auto lock = state.lock();
    const auto* all = state.template find_extension<detail::request_totals>();
    return all != nullptr ? all->counts : request_stats();
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
