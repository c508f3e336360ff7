// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When an interval ticks. Knows neither Asio nor a clock: points are nanoseconds since whatever its user's clock counts from.
#pragma once

#include <cogwheel/schedule/interval_options.hpp>

#include <optional>

namespace cogwheel::detail {

class interval_machine {
public:
    using nanoseconds = std::chrono::nanoseconds;

    interval_machine(const interval_options& options, nanoseconds start, nanoseconds end);

    /// When the tick that is asked for at `now` is to come; nothing when there is none any more. Asking again asks for the same tick.
    std::optional<nanoseconds> next(nanoseconds now);

    /// The tick that was asked for has come, at `now`. Returns when it was due, jitter not counted.
    nanoseconds ticked(nanoseconds now) noexcept;

    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t missed() const noexcept { return missed_; }

private:
    nanoseconds after_missed(nanoseconds now) noexcept;

    interval_options options_;
    nanoseconds due_; // of a fixed delay: known when the tick is asked for
    nanoseconds end_;
    nanoseconds drawn_{}; // jitter of the tick that was asked for: what it is late by on purpose
    std::uint64_t count_ = 0;
    std::uint64_t missed_ = 0;
    small_random own_;
};

} // namespace cogwheel::detail
