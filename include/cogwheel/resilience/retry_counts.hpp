// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Counts how retries end. Several callers may share one object, as they share a retry_budget:
//
//     cogwheel::retry_counts counts;
//     cogwheel::retry_policy policy{.attempts = 5, .counts = &counts};
//     report(counts.stats().ends[static_cast<std::size_t>(cogwheel::retry_end::budget)]);
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

enum class retry_end;
struct retry_result;
inline constexpr std::size_t retry_ends = 7; ///< the number of constants of retry_end

/// The counts of retries that have ended.
struct retry_stats {
    std::array<std::uint64_t, retry_ends> ends{}; ///< retries by retry_end, in the order of its constants
    std::uint64_t attempts = 0;                   ///< their attempts, including first ones

    friend bool operator==(const retry_stats&, const retry_stats&) = default;
};

/// Counts retries. Thread safety: any thread. Each count is exact; stats() does not read all of them at one moment.
class retry_counts {
public:
    /// Counts a retry that has ended. async_retry calls it, just before the handler runs.
    void add(const retry_result& result) noexcept;

    retry_stats stats() const noexcept;

private:
    std::array<std::atomic<std::uint64_t>, retry_ends> ends_{};
    std::atomic<std::uint64_t> attempts_{0};
};

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
