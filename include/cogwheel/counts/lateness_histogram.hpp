// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Counts how late timers fire, in buckets. The values of one bucket differ by less than 6.25%. The scheme is that of
// HdrHistogram: 16 linear steps for each power of two. record() needs no search and no division.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI {

/// A histogram of durations: about 8 kB, no allocation. Thread safety: none.
///
///     cogwheel::lateness_histogram lateness;
///     lateness.record(now - deadline);
///     const std::chrono::nanoseconds p99 = lateness.quantile(0.99);
class lateness_histogram {
public:
    /// Counts a value `times` times; a negative value counts as zero. Complexity: O(1).
    void record(std::chrono::nanoseconds lateness, std::uint64_t times = 1) noexcept {
        if (times == 0) return;
        const auto ns = lateness.count() > 0 ? static_cast<std::uint64_t>(lateness.count()) : 0;
        counts_[bucket(ns)] += times;
        total_ += times;
        if (ns > max_) max_ = ns;
    }

    /// Returns the value that a fraction `q` (0 .. 1) of the recorded values does not exceed, rounded up by at most
    /// 6.25%. Returns zero if there are no values. Complexity: O(buckets).
    std::chrono::nanoseconds quantile(double q) const noexcept;

    /// Returns the largest value, exactly; zero if there are no values.
    std::chrono::nanoseconds max() const noexcept { return std::chrono::nanoseconds(static_cast<std::int64_t>(max_)); }

    std::uint64_t total() const noexcept { return total_; }

private:
    static constexpr unsigned step_bits = 4;
    static constexpr std::size_t steps = 1U << step_bits;

    static constexpr std::size_t bucket(std::uint64_t ns) noexcept {
        if (ns < steps) return static_cast<std::size_t>(ns);
        const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - step_bits;
        return (shift + 1) * steps + static_cast<std::size_t>((ns >> shift) - steps);
    }
    static constexpr std::uint64_t upper_end(std::size_t bucket) noexcept {
        if (bucket < steps) return bucket;
        const std::size_t shift = bucket / steps - 1;
        return ((std::uint64_t{steps} + bucket % steps + 1) << shift) - 1;
    }

    std::array<std::uint64_t, (64 - step_bits) * steps> counts_{};
    std::uint64_t total_ = 0;
    std::uint64_t max_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI
