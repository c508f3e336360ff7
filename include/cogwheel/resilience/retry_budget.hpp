// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Keeps retries from becoming a storm: a bucket of tokens that many callers share. Each first attempt adds `ratio`
// tokens, usually less than one. Each retry takes one. Without a token, the caller fails with the error it has.
//
// The promise, over any period and for any number of threads:
//
//     retries granted <= capacity + ratio x first attempts + min_per_second x seconds
//
// So, with a small `ratio`, a failing server under load receives a fraction more than usual, not a multiple. A limit on
// attempts alone does not ensure that: when all calls fail, each uses all its attempts. See Beyer et al., "Site
// Reliability Engineering", O'Reilly 2016, chapters 21 and 22. The deposit for each request and the minimum rate come
// from Finagle's RetryBudget; in gRPC's proposal A6, each success makes a deposit. A retry that is cancelled during its
// wait does not give its token back: the promise bounds what callers may send.
//
// The caller passes the time in. All callers must read the same clock. If it steps back, the minimum rate adds nothing
// until the clock has caught up. Complexity: O(1), no allocation. Thread safety: any thread, without a lock.
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <atomic>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// How many retries a budget grants.
struct retry_budget_options {
    /// Tokens that each first attempt adds, while the bucket is not full. 0 .. 100.
    double ratio = 0.2;

    /// Tokens that the bucket earns per second, even without first attempts. 0 .. 1e6. With the default ratio alone, a
    /// client with one request a minute would earn one retry in five minutes.
    double min_per_second = 10;

    /// Tokens that a full bucket holds. It starts full. 1 .. 1e6. At most that many retries are granted at once.
    double capacity = 100;

    /// Checks the options. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

/// The counts of a budget. Each count is exact. stats() does not read all of them at the same moment.
struct retry_budget_stats {
    std::uint64_t deposits = 0; ///< first attempts, with those that a circuit breaker refused
    std::uint64_t granted = 0;
    std::uint64_t refused = 0;
};

/// A bucket of tokens for retries.
/// Example:
///
///     cogwheel::retry_budget budget({.ratio = 0.1}); // one for each peer, shared by all its callers
///     cogwheel::retry_policy policy{.attempts = 5, .budget = &budget};
class retry_budget {
public:
    /// Makes a full bucket. Errors: std::invalid_argument (options).
    explicit retry_budget(const retry_budget_options& options = {});
    retry_budget(const retry_budget&) = delete;
    retry_budget& operator=(const retry_budget&) = delete;

    /// Adds the deposit of a first attempt. Call it before each one; async_retry and async_hedge call it themselves.
    void deposit() noexcept;

    /// Takes a token for a retry. Returns false if there is none: do not retry.
    template <class Clock, class Duration>
    bool withdraw(std::chrono::time_point<Clock, Duration> now) noexcept {
        return withdraw_at(detail::saturate_to_ns(now.time_since_epoch()));
    }

    /// Returns the tokens in the bucket.
    template <class Clock, class Duration>
    double balance(std::chrono::time_point<Clock, Duration> now) noexcept {
        return balance_at(detail::saturate_to_ns(now.time_since_epoch()));
    }

    retry_budget_stats stats() const noexcept;

private:
    bool withdraw_at(std::chrono::nanoseconds now) noexcept;
    double balance_at(std::chrono::nanoseconds now) noexcept;
    void refill(std::int64_t now) noexcept;
    void put_in(std::int64_t parts) noexcept;

    std::int64_t capacity_; // in parts of a token, like per_deposit_, per_ns_ and parts_
    std::int64_t per_deposit_;
    double per_ns_;
    std::atomic<std::int64_t> parts_;
    std::atomic<std::int64_t> filled_at_; // the bucket has received the minimum rate up to this time, in ns
    std::atomic<std::uint64_t> deposits_{0};
    std::atomic<std::uint64_t> granted_{0};
    std::atomic<std::uint64_t> refused_{0};
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
