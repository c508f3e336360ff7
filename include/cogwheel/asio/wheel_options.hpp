// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options of a timer_wheel.
//
//     cogwheel::timer_wheel wheel{io, {.tick = 1ms, .max_pending = 100'000}};
#pragma once

#include <cogwheel/wheel/wheel_levels.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace cogwheel {

/// The options that the constructor of a timer_wheel takes and validates.
struct wheel_options {
    /// The precision: a timer fires at most one tick late. Above zero. tick x slots must be below 2^63 ns: 292
    /// years.
    std::chrono::nanoseconds tick = std::chrono::milliseconds(10);

    /// The slots of the wheel, 1 .. 65,536; rounded up to a power of two. A timer farther ahead than tick x slots costs
    /// one look per revolution. A hierarchical wheel has so many slots in each level, and no such cost.
    std::size_t slots = 512;

    /// The levels of a hierarchical wheel; they replace `slots`. The tick of the first level must equal `tick`. Empty
    /// for other wheels. See clock_hands, wheel_levels::uniform.
    wheel_levels levels{};

    /// How many timers may be pending at once, at least 1. The wheel refuses further ones with errc::too_many_timers.
    std::size_t max_pending = std::numeric_limits<std::size_t>::max();

    /// How many timers one turn fires before other handlers run, at least 1. Cheaper work counts by its cost.
    std::uint32_t work_per_turn = 1024;

    /// For how many timers the wheel allocates its own structures in advance, at most max_pending and 2^32 - 1. It
    /// allocates none later while no more timers are pending than that.
    std::size_t reserve = 0;

    /// Whether timers are kept in huge pages of memory (2 MB). For wheels of 100,000 timers and more: an operation then
    /// finds its timer without a TLB miss. The wheel takes memory in steps of 2 MB. The first use of each step takes
    /// about 0.1 ms, the time to clear it. Needs Linux with transparent huge pages (`madvise` or `always`). On other
    /// systems the option has one effect: the wheel takes memory in larger steps.
    bool huge_pages = false;

    /// Throws std::invalid_argument if an option is bad; the message names the value, the range and the remedy.
    /// `levelled`: whether the options are for a hierarchical wheel.
    void validate(bool levelled = false) const;
};

} // namespace cogwheel
