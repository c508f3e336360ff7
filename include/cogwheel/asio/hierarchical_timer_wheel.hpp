// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer_wheel on a hierarchical wheel, which suits short ticks and timers of days. All else is as in timer_wheel.
//
//     cogwheel::hierarchical_timer_wheel wheel{io, {.tick = 10ms, .levels = cogwheel::clock_hands}};
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/wheel/hierarchical_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A wheel that several threads may use.
using hierarchical_timer_wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded, hierarchical_wheel>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

#ifdef COGWHEEL_SEPARATE_COMPILATION
namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
COGWHEEL_SEPARATE_FUNCTIONS(extern, hierarchical_wheel)
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
#endif
