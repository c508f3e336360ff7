// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a wheel reports of a turn that took long, or that left due timers waiting. See basic_timer_wheel::on_slow_turn.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace cogwheel::COGWHEEL_ABI {

/// Which turns are reported.
struct slow_turn_options {
    /// Turns that took longer than this. At least zero.
    std::chrono::nanoseconds longer_than = std::chrono::milliseconds(50);

    /// Turns that left at least this number of due timers waiting. At least 1; the wheel counts to about 32,000.
    std::uint64_t waiting = 10'000;

    /// The shortest time between two reports. What comes in between is counted in slow_turn::skipped. At least zero.
    std::chrono::nanoseconds at_most_every = std::chrono::seconds(1);

    /// Throws std::invalid_argument if an option is bad; the message names the value, the range and the remedy.
    void validate() const;
};

/// A turn that is reported.
struct slow_turn {
    std::chrono::nanoseconds took{}; ///< with all handlers that ran inside the turn
    std::uint64_t fired = 0;         ///< timers that fired in the turn
    std::uint64_t waiting = 0; ///< timers that were due at the start of the turn and still wait; see wheel_stats::due
    std::uint64_t skipped = 0; ///< slow turns since the last report that were not reported

    friend bool operator==(const slow_turn&, const slow_turn&) = default;
};

/// Returns the report in words: "a turn took 83 ms and fired 12 timers; 12,000 timers are due and wait".
/// Errors: std::bad_alloc.
std::string to_string(const slow_turn&);

} // namespace cogwheel::COGWHEEL_ABI
