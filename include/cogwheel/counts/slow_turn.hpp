// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The report of a turn that took long, or that left due timers waiting: see basic_timer_wheel::on_slow_turn.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace cogwheel::COGWHEEL_ABI {

/// The turns that a wheel reports.
struct slow_turn_options {
    /// Turns that took longer than this. At least zero.
    std::chrono::nanoseconds longer_than = std::chrono::milliseconds(50);

    /// Turns that left at least this number of due timers waiting. At least 1; the wheel counts to about 32,000.
    std::uint64_t waiting = 10'000;

    /// The shortest time between two reports. slow_turn::skipped counts the slow turns between them. At least zero.
    std::chrono::nanoseconds at_most_every = std::chrono::seconds(1);

    /// Throws std::invalid_argument if an option is bad; the message names the value, the range and the remedy.
    void validate() const;
};

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
