// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Decides when an interval ticks. Points are nanoseconds since the epoch of the caller's clock.
#pragma once

#include <cogwheel/schedule/interval_options.hpp>

#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class interval_machine {
public:
    using nanoseconds = std::chrono::nanoseconds;

    interval_machine(const interval_options& options, nanoseconds start, nanoseconds end);

    /// Returns when the tick that the caller requests at `now` is due, with jitter; nothing after the last tick. A
    /// repeated call requests the same tick, with new jitter; a fixed delay starts anew, except before the first tick.
    std::optional<nanoseconds> next(nanoseconds now);

    /// Makes `first` the point of the next tick. Later ticks count from it.
    void reset(nanoseconds first) noexcept {
        due_ = first;
        first_ = true;
    }

    /// Counts the requested tick, which came at `now`. Returns when it was due, without jitter.
    nanoseconds ticked(nanoseconds now) noexcept;

    nanoseconds period() const noexcept { return options_.period; }
    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t missed() const noexcept { return missed_; }

private:
    nanoseconds after_missed(nanoseconds now) noexcept;

    interval_options options_;
    nanoseconds due_;   // without jitter; with a fixed delay, next() sets it
    bool first_ = true; // due_ is the point of a first tick, which next() does not set
    nanoseconds end_;
    nanoseconds drawn_{}; // the jitter of the requested tick
    std::uint64_t count_ = 0;
    std::uint64_t missed_ = 0;
    small_random own_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
