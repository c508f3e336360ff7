// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of a wheel. docs/observe.md lists the metrics that show them.
#pragma once

#include <cogwheel/counts/duration_histogram.hpp>
#include <cogwheel/counts/longest_turns.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI {

/// What a timer of a wheel belongs to.
enum class timer_kind : std::uint8_t {
    wait,     ///< async_wait(), and what other helpers wait for: retries, hedges, intervals, dates
    callable, ///< schedule(), and what other helpers schedule: keyed timers, circuit breakers, tasks
    object,   ///< a wheel_timer or an idle_monitor; all its waits count as one timer
    timeout,  ///< timeout() and its relatives
    request,  ///< a request of a pending_requests
};

} // namespace cogwheel::COGWHEEL_ABI

namespace cogwheel::COGWHEEL_ABI::detail {
inline constexpr std::size_t timer_kinds = 5;
} // namespace cogwheel::COGWHEEL_ABI::detail

namespace cogwheel::COGWHEEL_ABI {

/// Returns the name of the constant; of any other value, "unknown".
constexpr std::string_view to_string(timer_kind kind) noexcept {
    constexpr std::array<std::string_view, detail::timer_kinds> names{"wait", "callable", "object", "timeout",
                                                                      "request"};
    const auto i = static_cast<std::size_t>(kind);
    return i < names.size() ? names[i] : "unknown";
}

/// The counts of the timers of one kind.
struct timer_counts {
    std::uint64_t scheduled = 0; ///< timers that the wheel accepted
    std::uint64_t fired = 0;
    std::uint64_t cancelled = 0; ///< timers disarmed before they fired. Of kind timeout: the operation ended in time

    std::uint64_t pending() const noexcept { return scheduled - fired - cancelled; }

    friend bool operator==(const timer_counts&, const timer_counts&) = default;
};

/// One level of a wheel. A hashed wheel has one. An entry tells the wheel to look at a timer; see dead_entries below.
struct level_stats {
    std::chrono::nanoseconds slot{};  ///< the length of a slot
    std::uint64_t slots = 0;          ///< 0: the level has had no entry yet
    std::uint64_t occupied_slots = 0; ///< slots that hold an entry
    std::uint64_t fullest_slot = 0;   ///< the number of entries in the slot that holds most
    std::uint64_t entries = 0;        ///< the timers of this level, and its dead entries
    std::uint64_t cascades = 0;       ///< slots whose entries have moved to the levels below
    std::uint64_t hand = 0;           ///< the slot of the present tick

    /// The number of entries in each group of neighbouring slots, from slot 0 on. All groups have equally many slots.
    /// Empty unless a wheel_cursor asks for groups.
    std::vector<std::uint64_t> groups{};

    friend bool operator==(const level_stats&, const level_stats&) = default;
};

/// A snapshot of the counts. At every moment scheduled = fired + cancelled + pending, also for each kind.
///
///     const cogwheel::wheel_stats s = wheel.stats();
///     if (s.due > 1000) report("the loop is overloaded", s.largest_turn);
struct wheel_stats {
    std::uint64_t pending = 0;
    std::uint64_t scheduled = 0; ///< timers that the wheel accepted
    std::uint64_t fired = 0;
    std::uint64_t cancelled = 0; ///< timers disarmed before they fired, also timeouts of operations that ended in time
    std::uint64_t rejected = 0;  ///< timers that the wheel refused: over max_pending, or after stop()

    std::array<timer_counts, detail::timer_kinds> kinds{}; ///< the same by kind, in the order of timer_kind
    const timer_counts& of(timer_kind kind) const noexcept { return kinds[static_cast<std::size_t>(kind)]; }

    /// Timers that needed no new entry, because they took over the entry of an ended timer. Only an observed_wheel
    /// counts them: in other wheels, the count would cost time for each timer.
    std::optional<std::uint64_t> take_overs;

    std::uint64_t turns = 0;
    std::uint64_t wakeups = 0;         ///< expiries of the driver's timer; a turn may also come without one
    std::uint64_t empty_wakeups = 0;   ///< those that found no timer to fire
    std::uint64_t exhausted_turns = 0; ///< turns that used up work_per_turn and left work to the next turn
    std::uint64_t largest_turn = 0;    ///< the largest number of timers that fired in one turn

    /// How late timers fired since the wheel was made: from the start of the tick at which a timer was due to the clock
    /// reading of the turn that fired it. Excludes the rounding of the deadline up to a tick, and the wait for other
    /// handlers of the same turn. p50 and p99 are rounded up by at most 6.25%.
    struct {
        std::chrono::nanoseconds p50{}, p99{}, max{};
        duration_histogram histogram{};
    } lateness;

    /// The durations of the turns, with all handlers that ran inside them.
    duration_histogram turn_duration;

    /// The longest turns of the last hour (50 to 60 minutes), the longest one first.
    std::array<long_turn, longest_turns::most> longest{};

    /// The time to the driver's next wake-up: no timer is due before. Zero if a turn is under way or about to come;
    /// nothing if no timer is pending.
    std::optional<std::chrono::nanoseconds> next_due;

    /// Timers that are due and have not fired yet. While the wheel is behind, this includes entries of timers that were
    /// cancelled or moved to a later tick. The count stops at about 32,000.
    std::uint64_t due = 0;

    std::uint64_t entries = 0;      ///< entries of all levels, and of overdue timers
    std::uint64_t dead_entries = 0; ///< those that no pending timer needs
    std::uint64_t sweeps = 0;       ///< steps that removed dead entries; each cleans two chunks of 62 entries
    std::uint64_t bytes = 0;        ///< memory of the wheel and of its pools of timers; trimmed memory counts too
};

/// The counts, and what the slots hold.
struct wheel_snapshot : wheel_stats {
    std::vector<level_stats> levels; ///< the finest level first
};

} // namespace cogwheel::COGWHEEL_ABI
