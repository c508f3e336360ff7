// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often an interval ticks, until when, and what follows a tick that came too late.
//
//     cogwheel::interval every(wheel, {.period = 10s, .first_delay = 0s, .times = 6, .jitter = 1s});
#pragma once

#include <cogwheel/resilience/random.hpp>
#include <cogwheel/schedule/recurrence.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace cogwheel {

/// From where an interval counts its period.
enum class interval_pace {
    fixed_rate,  ///< ticks at first + n x period, however long the work takes: no drift
    fixed_delay, ///< one period after the call of async_tick(): a pause of that length between pieces of work
};

/// What follows a tick that came so late that the next tick was due as well: the loop was blocked, the machine slept,
/// or the work took too long. It applies to a fixed rate. Names and meanings are those of tokio's MissedTickBehavior.
enum class interval_misfire {
    skip,  ///< the next tick of the grid that lies ahead; missed() counts the ticks between
    delay, ///< one period after the late tick came: the grid moves, and missed() counts the ticks left out
    burst, ///< each of the late ticks, at once, until the interval has caught up with the grid
};

/// The options of an interval.
struct interval_options {
    /// The time from tick to tick. Above zero. An interval with a period below the wheel's tick misses ticks all the
    /// time.
    std::chrono::nanoseconds period{};

    /// The time from the interval's construction to the first tick. Zero or more. Default: one period.
    std::optional<std::chrono::nanoseconds> first_delay{};

    interval_pace pace = interval_pace::fixed_rate;
    interval_misfire misfire = interval_misfire::skip;

    /// The number of ticks. At least 1.
    std::int64_t times = forever;

    /// Each tick comes later by a random part of this, evenly distributed. The grid stays. Zero .. below `period`.
    std::chrono::nanoseconds jitter{};

    /// The source of jitter. Default: a generator of the interval's own.
    random_ref random{};

    /// Checks the options. Errors: std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel
