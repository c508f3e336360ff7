// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When something that has a key runs, and what becomes of a second one with the same key.
#pragma once

#include <cogwheel/schedule/error.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace cogwheel {

struct keyed_schedule {
    static constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

    /// Until the first run; zero or less: at once.
    std::chrono::nanoseconds delay{};

    /// From run to run, on a grid that does not drift; runs that are past are skipped. Above zero; none: it runs once.
    std::optional<std::chrono::nanoseconds> period{};

    /// How many runs: at least 1. Not said: one without a period, for ever with one.
    std::optional<std::int64_t> times{};

    static constexpr keyed_schedule once(std::chrono::nanoseconds delay) noexcept { return {.delay = delay}; }

    /// The first run after one period.
    static constexpr keyed_schedule every(std::chrono::nanoseconds period, std::int64_t times = for_ever) noexcept {
        return {.delay = period, .period = period, .times = times};
    }

    constexpr std::int64_t runs() const noexcept { return times.value_or(period ? for_ever : 1); }

    std::error_code check() const noexcept {
        if (period && *period <= std::chrono::nanoseconds::zero()) return schedule_errc::bad_period;
        if (runs() < 1) return schedule_errc::bad_times;
        if (runs() > 1 && !period) return schedule_errc::bad_period;
        return {};
    }
};

/// What add() does with a key that is there already.
enum class on_duplicate {
    reject,  ///< schedule_errc::duplicate_key; the old one goes on
    replace, ///< the old one is removed, and does not run any more
    keep,    ///< the old one goes on, and that is fine
};

} // namespace cogwheel
