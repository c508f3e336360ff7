// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What was called and how it ended, in numbers. Each thread keeps a ledger of its own; they are added up when it is
// done.
#pragma once

#include <cogwheel/counts/wheel_stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stress {

/// What is started, and ends once.
enum class kind : std::size_t { callable, wait, timer, limit };
inline constexpr std::array kind_names{"callable", "wait", "timer", "limit"};

/// What a thread does for a while.
enum class role : std::size_t { schedule, wait, timer, limit, cancel, rearm, emit, complete, observe, sweep, end };
inline constexpr std::array role_names{"schedule", "async_wait", "wheel_timer", "timeout",    "cancel", "reschedule",
                                       "emit",     "complete",   "observe",     "cancel_all", "stop"};

struct ends {
    std::uint64_t started = 0, succeeded = 0, cancelled = 0, timed_out = 0, rejected = 0, dropped = 0;

    std::uint64_t ended() const noexcept { return succeeded + cancelled + timed_out + rejected + dropped; }
    std::uint64_t accepted() const noexcept { return ended() - rejected; }
};

struct calls {
    std::uint64_t made = 0, effective = 0;
};

struct ledger {
    std::array<ends, kind_names.size()> kinds;
    std::array<calls, role_names.size()> roles;
    std::uint64_t crowded = 0; ///< accepted waits on a wheel_timer that somebody may have armed already
    std::uint64_t unreported =
        0; ///< timed out under a cancel_after, which does not say so: perhaps cancelled otherwise

    ends& of(kind k) noexcept { return kinds[static_cast<std::size_t>(k)]; }
    const ends& of(kind k) const noexcept { return kinds[static_cast<std::size_t>(k)]; }
    calls& of(role r) noexcept { return roles[static_cast<std::size_t>(r)]; }

    /// `effective`: it did what it is for.
    void note(role r, bool effective) noexcept {
        ++of(r).made;
        of(r).effective += effective ? 1 : 0;
    }
    std::uint64_t calls_made() const noexcept;

    ledger& operator+=(const ledger& other) noexcept;
};

std::string table(const ledger& l);

/// Adds to the findings where the wheel counts otherwise than the program did. One expiry of a wheel_timer completes up
/// to `waits_per_timer`. `at_end`: nothing was counted afterwards; else only what is too much shows.
void compare(const ledger& l, const cogwheel::wheel_stats& s, std::uint64_t waits_per_timer, bool at_end,
             const std::string& where);

} // namespace stress
