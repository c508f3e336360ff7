// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of a wheel.
#pragma once

#include <chrono>
#include <cstdint>

namespace cogwheel::inline v0 {

/// A snapshot of the counts. At every moment scheduled = fired + cancelled + pending.
///
///     const cogwheel::wheel_stats s = wheel.stats();
///     if (s.lateness.p99 > 50ms) report("the loop is overloaded", s.largest_turn);
struct wheel_stats {
    std::uint64_t pending = 0;
    std::uint64_t scheduled = 0; ///< timers that the wheel accepted
    std::uint64_t fired = 0;
    std::uint64_t cancelled = 0; ///< timers disarmed before they fired, also timeouts of operations that ended in time
    std::uint64_t rejected = 0;  ///< timers that the wheel refused: over max_pending, or after stop()

    std::uint64_t turns = 0;
    std::uint64_t wakeups = 0;      ///< expiries of the driver's timer; a turn may also come without one
    std::uint64_t largest_turn = 0; ///< the largest number of timers that fired in one turn

    /// The time from the start of the tick at which a timer was due to the clock reading of the turn that fired it. p50
    /// and p99 are rounded up by at most 6.25%.
    struct {
        std::chrono::nanoseconds p50{}, p99{}, max{};
    } lateness;
};

} // namespace cogwheel::inline v0
