// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a wheel counts. At every moment: scheduled = fired + cancelled + pending.
#pragma once

#include <chrono>
#include <cstdint>

namespace cogwheel {

struct wheel_stats {
    std::uint64_t pending = 0;
    std::uint64_t scheduled = 0; ///< accepted
    std::uint64_t fired = 0;
    std::uint64_t cancelled = 0; ///< by token, slot, cancel_all() or stop()
    std::uint64_t rejected = 0;  ///< not accepted: over max_pending, or after stop()

    std::uint64_t turns = 0;        ///< of the driver
    std::uint64_t wakeups = 0;      ///< turns that the driver's timer started; the others were posted
    std::uint64_t largest_turn = 0; ///< timers fired in one

    /// From the tick at which a timer was due to the start of the turn that fired it.
    struct {
        std::chrono::nanoseconds p50{}, p99{}, max{};
    } lateness;
};

} // namespace cogwheel
