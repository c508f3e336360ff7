// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// timer_wheel on a wheel of levels: for ticks of a millisecond and timers of days. All else is as with timer_wheel.
//
//     cogwheel::hierarchical_timer_wheel wheel{io, {.tick = 10ms, .levels = cogwheel::clock_hands}};
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/wheel/hierarchical_wheel.hpp>

namespace cogwheel {

/// For any thread.
using hierarchical_timer_wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded, hierarchical_wheel>;

/// For one thread or strand; no lock is taken.
using local_hierarchical_timer_wheel =
    basic_timer_wheel<std::chrono::steady_clock, single_threaded, hierarchical_wheel>;

} // namespace cogwheel
