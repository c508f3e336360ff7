// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Under overload, one factor shortens all idle timeouts of a wheel, including those that run already (as in Envoy).
//
//     if (accepted > 0.9 * limit) cogwheel::overload_factor(wheel, 0.2); // from now on a timeout of 60 s is 12 s
#pragma once

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/net/detail/overload.hpp>

#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)

#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class State>
using overload_of = overload<typename State::engine>;

inline void check_overload_factor(double factor) {
    if (!(factor > 0 && factor <= 1))
        asio::detail::throw_exception(
            std::invalid_argument("cogwheel::overload_factor: the factor is " + std::to_string(factor) +
                                  ", but must be above 0 and at most 1; 1 leaves the limits as they are"));
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Sets the factor that multiplies the timeouts of all idle monitors of `wheel`, present and future.
/// Parameters: `factor`: above 0, at most 1. It is 1 at first.
/// Effects: A smaller factor moves the running timers forward, in steps of 1,024 monitors that are posted to the
///   wheel's executor. A larger factor moves none: a timer that fires too early waits for the rest.
/// Complexity: O(1), and O(monitors) in the posted steps.
/// Errors: std::invalid_argument, std::bad_alloc. Thread safety: the wheel's.
template <any_timer_wheel Wheel>
void overload_factor(const Wheel& wheel, double factor) {
    detail::check_overload_factor(factor);
    auto& state = detail::impl_of(wheel);
    auto lock = state.lock();
    state.template extension<detail::overload_of<detail::impl_type<Wheel>>>().set(state, lock, factor);
}

/// Returns the factor of `wheel`. Errors: std::bad_alloc. Thread safety: the wheel's.
template <any_timer_wheel Wheel>
double overload_factor(const Wheel& wheel) {
    auto& state = detail::impl_of(wheel);
    const auto lock = state.lock();
    return state.template extension<detail::overload_of<detail::impl_type<Wheel>>>().factor();
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
