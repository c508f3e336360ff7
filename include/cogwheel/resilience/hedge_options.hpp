// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options and the result of a hedge (hedge.hpp), and the number of an attempt.
#pragma once

#include <cogwheel/resilience/retry_budget.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// When a hedge starts further attempts.
struct hedge_options {
    /// The time from the start of an attempt to the start of the next. After a `retryable` error, the next one starts
    /// at once. The 95th percentile of the usual latency is a good value: with two attempts, it costs about 5% more
    /// calls. Zero or less: the next attempt starts in the wheel's next turn.
    std::chrono::nanoseconds delay{};

    /// The largest number of attempts, including the first. 1 .. 16.
    std::uint32_t attempts = 2;

    /// The predicate: returns true if another attempt may succeed after this error. If not, no further attempt starts;
    /// running attempts may still succeed. Empty: is_transient. It is not called for errors of cogwheel::errc, after
    /// which no attempt starts. If it throws, no further attempt starts, and the exception leaves run().
    std::function<bool(const error_code&)> retryable = {};

    /// A budget that other callers share. The first attempt makes a deposit, each further one takes a token. Without a
    /// token, no further attempt starts. A hedge within a retry needs another budget than the retry: otherwise each
    /// attempt of the retry makes a deposit. nullptr: no budget. Lifetime: must outlive the hedge.
    retry_budget* budget = nullptr;

    /// Checks the options. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

struct hedge_result {
    std::uint32_t attempts = 0; ///< attempts, including those that failed to start
    std::uint32_t winner = 0;   ///< the number of the attempt that succeeded first; 0: none succeeded
    error_code last_error;      ///< the error of the last attempt to fail; empty if one succeeded
};

/// Tells an operation which of the attempts it is.
class hedge_attempt {
public:
    /// Returns the attempt's number, from 1.
    std::uint32_t number() const noexcept { return number_; }

    constexpr hedge_attempt() noexcept = default;
    constexpr explicit hedge_attempt(std::uint32_t number) noexcept : number_(number) {}

private:
    std::uint32_t number_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
