// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Counts durations in 21 buckets, as a Prometheus histogram does: at most 100 us, at most 200 us, ... at most
// 52.4288 s, and above. The counts and the sum are exact. lateness_histogram has finer buckets, for quantiles.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI {

/// A histogram of durations: about 200 bytes, no allocation. Thread safety: none.
///
///     cogwheel::duration_histogram took;
///     took.record(ended - started);
///     for (std::size_t i = 0; i < took.bounds; ++i) print(took.bound(i), took.at_most(i));
class duration_histogram {
public:
    static constexpr std::size_t bounds = 20;          ///< the buckets that have an upper bound
    static constexpr std::size_t buckets = bounds + 1; ///< the last bucket has none

    /// Returns the upper bound of a bucket, which belongs to the bucket. Preconditions: i < bounds.
    static constexpr std::chrono::nanoseconds bound(std::size_t i) noexcept {
        return std::chrono::nanoseconds(first_bound << i);
    }

    /// Counts a value `times` times; a negative value counts as zero. Complexity: O(1).
    void record(std::chrono::nanoseconds value, std::uint64_t times = 1) noexcept {
        if (times == 0) return;
        const auto ns = value.count() > 0 ? static_cast<std::uint64_t>(value.count()) : 0;
        counts_[bucket(ns)] += times;
        total_ += times;
        add(ns, times);
        if (ns > max_) max_ = ns;
    }

    /// Returns how many values a bucket holds. Preconditions: i < buckets.
    std::uint64_t count(std::size_t i) const noexcept { return counts_[i]; }

    /// Returns how many values are at most bound(i); total() for i = bounds. Complexity: O(i).
    std::uint64_t at_most(std::size_t i) const noexcept {
        std::uint64_t n = 0;
        for (std::size_t b = 0; b <= i; ++b) n += counts_[b];
        return n;
    }

    std::uint64_t total() const noexcept { return total_; }

    /// Returns the largest value; zero if there are no values.
    std::chrono::nanoseconds max() const noexcept { return std::chrono::nanoseconds(static_cast<std::int64_t>(max_)); }

    /// Returns the sum of the values in seconds. The histogram keeps it exactly; the result is rounded to a double.
    double sum_seconds() const noexcept {
        return static_cast<double>(seconds_) + static_cast<double>(nanoseconds_) / 1e9;
    }
    /// Returns the mean of the values; zero if there are no values.
    std::chrono::nanoseconds mean() const noexcept {
        if (total_ == 0) return {};
        const double ns = sum_seconds() / static_cast<double>(total_) * 1e9;
        return ns < static_cast<double>(max_) ? std::chrono::nanoseconds(static_cast<std::int64_t>(ns)) : max();
    }

    friend bool operator==(const duration_histogram&, const duration_histogram&) = default;

private:
    static constexpr std::uint64_t first_bound = 100'000;              // nanoseconds
    static constexpr std::uint64_t second = 1'000'000'000;             // nanoseconds
    static constexpr std::uint64_t at_a_time = std::uint64_t{1} << 32; // below 2^64 / second

    // Returns the number of bits of (ns - 1) / first_bound, so that a bound belongs to the bucket below it.
    static constexpr std::size_t bucket(std::uint64_t ns) noexcept {
        if (ns <= first_bound) return 0;
        const auto i = static_cast<std::size_t>(std::bit_width((ns - 1) / first_bound));
        return i < bounds ? i : bounds;
    }

    // Adds ns x times to the sum. Counts seconds apart, because some million hours in nanoseconds exceed 64 bits.
    void add(std::uint64_t ns, std::uint64_t times) noexcept {
        if (times == 1 && ns < second) {
            nanoseconds_ += ns;
            if (nanoseconds_ < second) return;
            nanoseconds_ -= second;
            ++seconds_;
            return;
        }
        while (times != 0) {
            const std::uint64_t n = times < at_a_time ? times : at_a_time;
            const std::uint64_t rest = ns % second * n + nanoseconds_;
            seconds_ += ns / second * n + rest / second;
            nanoseconds_ = rest % second;
            times -= n;
        }
    }

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t total_ = 0;
    std::uint64_t max_ = 0;
    std::uint64_t seconds_ = 0, nanoseconds_ = 0; // the sum
};

static_assert(duration_histogram::bound(19) == std::chrono::microseconds(52'428'800));

} // namespace cogwheel::COGWHEEL_ABI
