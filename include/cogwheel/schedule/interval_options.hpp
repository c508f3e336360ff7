// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often an interval ticks, and what follows a tick that came too late.
//
//     cogwheel::interval every(wheel, {.period = 10s, .first_delay = 0s, .times = 6, .jitter = 1s});
#pragma once

#include <cogwheel/resilience/random.hpp>
#include <cogwheel/schedule/repetition.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What an interval counts its period from.
enum class interval_pace {
    fixed_rate,  ///< ticks are due at first + n x period, however long the work takes (but see interval_misfire)
    fixed_delay, ///< after the first, each tick is due one period after its async_tick() call: a pause between work
};
std::string_view to_string(interval_pace) noexcept; ///< the name of the constant

/// What follows a tick that came so late that the next tick was due as well: the loop was blocked, or the work took too
/// long. Only for fixed_rate. The names are those of tokio's MissedTickBehavior.
enum class interval_misfire {
    skip,  ///< the first tick of the grid that is not due yet; missed() counts the ticks between
    delay, ///< a tick one period after the late tick came: the grid moves; missed() counts the skipped ticks
    burst, ///< all late ticks, one after the other without a pause, until the interval has caught up with the grid
};
std::string_view to_string(interval_misfire) noexcept; ///< the name of the constant

struct interval_options {
    /// The time from tick to tick. Above zero. If it is shorter than the wheel's tick, most ticks are late.
    std::chrono::nanoseconds period{};

    /// The time from the interval's construction to the first tick. Zero or more. Default: one period.
    std::optional<std::chrono::nanoseconds> first_delay{};

    interval_pace pace = interval_pace::fixed_rate;
    interval_misfire misfire = interval_misfire::skip;

    /// The number of ticks. At least 1. Missed ticks do not count.
    std::int64_t times = forever;

    /// Delays each tick by a random time, evenly from 0 to `jitter`. The grid stays. Zero or more, and below `period`.
    std::chrono::nanoseconds jitter{};

    /// The source of jitter. Default: a generator of the interval.
    random_ref random{};

    /// Checks the options. Errors: std::invalid_argument that names the value, the range and the remedy.
    /// has_start: the first tick has a point in time, so first_delay must not be set.
    void validate(bool has_start = false) const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
