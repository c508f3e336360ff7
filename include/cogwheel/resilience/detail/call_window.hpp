// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Counts the successes and failures of a time window, in ten slices. The caller passes the time in. Amortised O(1).
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class call_window {
public:
    using nanoseconds = std::chrono::nanoseconds;

    /// Preconditions: `length` >= 10 us, so that the numbers of slices do not overflow.
    explicit call_window(nanoseconds length) noexcept : slice_(length / slices) {}

    /// Counts a call that ended. When the clock steps back, the window stands still.
    void record(bool failed, nanoseconds now) noexcept {
        advance(now);
        counts& c = ring_[at_];
        ++c.calls;
        ++all_.calls;
        if (!failed) return;
        ++c.failures;
        ++all_.failures;
    }
    std::uint64_t calls() const noexcept { return all_.calls; }
    std::uint64_t failures() const noexcept { return all_.failures; }
    void clear() noexcept {
        ring_ = {};
        all_ = {};
    }

private:
    static constexpr std::size_t slices = 10;
    struct counts {
        std::uint64_t calls = 0;
        std::uint64_t failures = 0;
    };

    void advance(nanoseconds now) noexcept {
        std::int64_t slice = now / slice_;
        if (now % slice_ < nanoseconds::zero()) --slice; // round down, also before the epoch
        if (slice <= newest_) return;
        if (slice - newest_ >= static_cast<std::int64_t>(slices)) {
            clear();
        } else {
            for (; newest_ < slice; ++newest_) {
                at_ = (at_ + 1) % slices;
                all_.calls -= ring_[at_].calls;
                all_.failures -= ring_[at_].failures;
                ring_[at_] = {};
            }
        }
        newest_ = slice;
    }

    nanoseconds slice_;
    std::int64_t newest_ = nanoseconds::min().count() / 1'000 - 1; // before every slice: none is shorter than 1 us
    std::size_t at_ = 0;                                           // the index of the newest slice
    std::array<counts, slices> ring_{};
    counts all_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
