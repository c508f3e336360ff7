// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of an engine. A timer costs one increment when it is scheduled, fires or is cancelled. All timers of a
// tick that fire in one turn have the same lateness, which is counted once.
#pragma once

#include <cogwheel/counts/lateness_histogram.hpp>
#include <cogwheel/counts/wheel_stats.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <array>
#include <chrono>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The counts of one wheel. Needs the engine's lock.
class engine_counts {
    using nanoseconds = std::chrono::nanoseconds;

public:
    timer_counts& of(timer_kind kind) noexcept { return kinds_[static_cast<std::size_t>(kind)]; }
    void reject() noexcept { ++rejected_; }
    void wake_up() noexcept { ++wakeups_; }

    std::uint64_t fired() const noexcept {
        std::uint64_t n = 0;
        for (const timer_counts& k : kinds_) n += k.fired;
        return n;
    }

    // ---- lateness: the timers counted as fired since the last record_lateness() were due at tick due() ----

    tick due() const noexcept { return due_; }
    void set_due(tick t) noexcept { due_ = t; }
    std::uint64_t recorded() const noexcept { return quantiles_.total(); }
    void record_lateness(nanoseconds late, std::uint64_t n) noexcept;

    // ---- turns ----

    void begin_turn() noexcept { ++turns_; }
    /// `fired`: how many timers the turn has fired. `now`: the turn's end.
    void end_turn(nanoseconds took, std::uint64_t fired, nanoseconds now, bool woken, bool exhausted) noexcept;
    /// Counts a wake-up without a turn: the wheel had become empty.
    void end_empty_wakeup() noexcept { ++empty_wakeups_; }
    struct turn {
        nanoseconds took;
        std::uint64_t fired;
    };
    const turn& last_turn() const noexcept { return last_turn_; }

    /// Copies the counts, except the quantiles.
    void read(wheel_stats& s, nanoseconds now) const noexcept;
    const lateness_histogram& quantiles() const noexcept { return quantiles_; }

private:
    std::array<timer_counts, timer_kinds> kinds_{};
    std::uint64_t rejected_ = 0;
    std::uint64_t turns_ = 0, wakeups_ = 0, empty_wakeups_ = 0, exhausted_turns_ = 0, largest_turn_ = 0;
    turn last_turn_{};
    tick due_{};
    duration_histogram lateness_, turn_duration_;
    longest_turns longest_;
    lateness_histogram quantiles_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
