// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often an interval ticks, until when, and what becomes of ticks that nobody was there for.
#pragma once

#include <cogwheel/net/random_ref.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace cogwheel {

enum class interval_pace {
    fixed_rate,  ///< ticks at first + n x period, however long the work takes: no drift
    fixed_delay, ///< a period from async_tick() on: a pause of that length between pieces of work
};

/// What follows a tick that came so late that the next one was due, too: the loop was blocked, the machine slept, work took too
/// long. Of a fixed rate. Names and meaning are those of tokio's MissedTickBehavior.
enum class missed_ticks {
    skip,  ///< the next tick of the grid that lies ahead; those between are counted by missed()
    delay, ///< a period after the late one: the grid moves
    burst, ///< every one of them, at once, until the grid is caught up with
};

struct interval_options {
    static constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();

    /// From tick to tick. Above zero. One below the wheel's tick misses ticks all the time.
    std::chrono::nanoseconds period{};

    /// From the interval's construction to the first tick; a period, if it is not said. Zero or more.
    std::optional<std::chrono::nanoseconds> first_delay{};

    interval_pace pace = interval_pace::fixed_rate;
    missed_ticks missed = missed_ticks::skip;

    /// How many ticks there are. At least 1.
    std::uint64_t times = for_ever;

    /// Each tick comes up to this much later, at random, evenly; the grid stays. Zero .. below period.
    std::chrono::nanoseconds jitter{};

    /// Where jitter comes from; a generator of its own, if it is not said.
    random_ref random{};

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel
