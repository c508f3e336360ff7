// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of a wheel.
#pragma once

#include <chrono>
#include <cstdint>

namespace cogwheel {

/// A snapshot of the counts. At every moment scheduled = fired + cancelled + pending.
///
///     const cogwheel::wheel_stats s = wheel.stats();
///     if (s.lateness.p99 > 50ms) report("the loop is overloaded", s.largest_turn);
struct wheel_stats {
    std::uint64_t pending = 0;
    std::uint64_t scheduled = 0; ///< timers that the wheel accepted
    std::uint64_t fired = 0;
    std::uint64_t cancelled = 0; ///< timers that the wheel disarmed before they fired, unused timeouts included
    std::uint64_t rejected = 0;  ///< timers that the wheel did not accept: over max_pending, or after stop()

    std::uint64_t turns = 0;
    std::uint64_t wakeups = 0;      ///< turns that the driver's timer started; all other turns were posted
    std::uint64_t largest_turn = 0; ///< the largest number of timers that fired in one turn

    /// The time from the start of a timer's tick to the start of the turn that fired it.
    struct {
        std::chrono::nanoseconds p50{}, p99{}, max{};
    } lateness;
};

} // namespace cogwheel
