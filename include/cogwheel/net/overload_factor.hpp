// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Under overload: one factor that shortens all idle limits of a wheel at once, those that are running included (as Envoy's
// scaled timers do).
//
//     if (accepted > 0.9 * limit) cogwheel::overload_factor(wheel, 0.2); // an idle limit of 60 s is 12 s until further notice
#pragma once

#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/net/detail/overload.hpp>

namespace cogwheel {

namespace detail {

template <class State>
using overload_of = overload<typename State::engine>;

void check_overload_factor(double factor); // std::invalid_argument

} // namespace detail

/// Multiplies the limits of all idle monitors of `wheel`, present and future, by 0 < factor <= 1. At first it is 1.
/// A smaller one brings the timers that are running forward, 1,024 a turn on the wheel's executor; a larger one touches none:
/// those that come too early wait for the rest.
/// Errors: std::invalid_argument, std::bad_alloc. Complexity: O(1), and O(monitors) in later turns.
/// Thread safety: the wheel's.
template <any_timer_wheel Wheel>
void overload_factor(const Wheel& wheel, double factor) {
    detail::check_overload_factor(factor);
    auto& state = detail::state_of::get(wheel);
    auto lock = state.lock();
    state.template annex<detail::overload_of<detail::state_type<Wheel>>>().set(state, lock, factor);
}

template <any_timer_wheel Wheel>
double overload_factor(const Wheel& wheel) {
    auto& state = detail::state_of::get(wheel);
    const auto lock = state.lock();
    return state.template annex<detail::overload_of<detail::state_type<Wheel>>>().factor();
}

} // namespace cogwheel
