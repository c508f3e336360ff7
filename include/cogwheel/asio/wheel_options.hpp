// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a timer_wheel is set up.
#pragma once

#include <cogwheel/wheel/wheel_levels.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace cogwheel {

struct wheel_options {
    /// How exact: a timer fires at most one tick late. Above zero; tick x slots must fit 2^63 ns (292 years).
    std::chrono::nanoseconds tick = std::chrono::milliseconds(10);

    /// 1 .. 65,536, rounded up to a power of two. Timers farther away than tick x slots cost one look per revolution.
    /// A wheel of levels has as many in each of them, and no such cost.
    std::size_t slots = 512;

    /// For a wheel of levels: these instead of `slots`, the first of them a tick long. See clock_hands, wheel_levels::uniform.
    wheel_levels levels{};

    /// Timers that may be pending at once; more are answered with errc::too_many_timers.
    std::size_t max_pending = std::numeric_limits<std::size_t>::max();

    /// How many timers (or cheaper work of the same cost) one turn fires before it lets other handlers run. At least 1.
    std::uint32_t work_per_turn = 1024;

    /// Timers to make room for beforehand: up to that many pending, the wheel allocates nothing for its own structures.
    std::size_t reserve = 0;

    /// Keep timers in huge pages (2 MB) of memory. For wheels of 100,000 timers and more: an operation then finds its timer without a
    /// miss of the TLB. Their memory comes 2 MB at a time, each of which takes as long as clearing it does (about 0.1 ms) when it is first
    /// used. Linux with transparent huge pages (`madvise` or `always`); elsewhere only the steps grow.
    bool huge_pages = false;

    /// Throws std::invalid_argument that names the value, the range and the remedy. `levelled`: is it for a wheel of levels?
    void validate(bool levelled = false) const;
};

} // namespace cogwheel
