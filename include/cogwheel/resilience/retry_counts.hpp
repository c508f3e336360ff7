// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How retries ended, as counts. Several callers may share one object, as they share a retry_budget:
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
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Why async_retry started no further attempt.
enum class retry_end {
    succeeded,
    /// The predicate refused or threw; the random source threw; or the operation threw an exception without a code.
    not_retryable,
    attempts_used, ///< the policy allows no more attempts
    out_of_time,   ///< the deadline passed, or the next attempt would not start before it
    budget,        ///< the budget had no token for another attempt
    cancelled,
    wheel, ///< the wheel took no timer, or cancelled the timer of the wait
};
std::string_view to_string(retry_end) noexcept; ///< the name of the constant

/// How a retry ended.
struct retry_result {
    std::uint32_t attempts = 0; ///< attempts, including one that failed to start
    retry_end end = retry_end::succeeded;
    /// The error of the last attempt that ended. An exception without a code: std::errc::state_not_recoverable.
    error_code last_error;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
inline constexpr std::size_t retry_ends = static_cast<std::size_t>(retry_end::wheel) + 1;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The counts of retries that have ended.
struct retry_stats {
    std::array<std::uint64_t, detail::retry_ends> ends{}; ///< retries by retry_end, in the order of its constants
    std::uint64_t attempts = 0;                           ///< their attempts, including first ones

    friend bool operator==(const retry_stats&, const retry_stats&) = default;
};

/// Counts retries. Thread safety: any thread. Each count is exact; stats() does not read all of them at one moment.
class retry_counts {
public:
    /// Counts a retry that has ended. async_retry calls it, just before the handler runs.
    void add(const retry_result& result) noexcept;

    retry_stats stats() const noexcept;

private:
    std::array<std::atomic<std::uint64_t>, detail::retry_ends> ends_{};
    std::atomic<std::uint64_t> attempts_{0};
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
