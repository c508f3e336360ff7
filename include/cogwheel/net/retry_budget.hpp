// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What keeps retries from becoming a storm: a bucket of tokens that many callers share. Each first attempt puts a part of a token
// in, each retry takes a whole one out, and when there is none, the caller fails with the error it has.
//
// The promise, over any time, from any number of threads:
//
//     retries granted <= capacity + ratio x first attempts + min_per_second x seconds
//
// so a server that fails sees its usual load and a fraction, not a multiple. A limit on attempts alone does not do that: when
// all fail, all use them up. (Beyer et al., "Site Reliability Engineering", O'Reilly 2016, chapters 21 and 22; Finagle's
// RetryBudget, which is the model for deposits by request and the minimum rate; gRPC's proposal A6 deposits by success.)
// A retry that is granted and then cancelled while it waits has used its token up: the bound is on what may be sent.
//
// Time is passed in: readings of one clock, the same for all callers. One that is turned back refills nothing until it has
// caught up. Complexity: O(1), no allocation. Thread safety: any thread, without a lock.
#pragma once

#include <cogwheel/wheel/tick.hpp>

#include <atomic>

namespace cogwheel {

struct retry_budget_options {
    /// Retries per first attempt, in the long run: 0 .. 100.
    double ratio = 0.2;

    /// Retries a second that are granted however few the first attempts are: 0 .. 1e6. A client with one request a minute could
    /// never retry otherwise.
    double min_per_second = 10;

    /// What the bucket holds, and has in it at first: 1 .. 1e6 retries. So many may come at once.
    double capacity = 100;

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

/// Each figure is exact; those of one snapshot need not be of the same moment.
struct retry_budget_stats {
    std::uint64_t deposits = 0; ///< first attempts
    std::uint64_t granted = 0;
    std::uint64_t refused = 0;
};

class retry_budget {
public:
    /// Full. Errors: std::invalid_argument (options).
    explicit retry_budget(const retry_budget_options& options = {});
    retry_budget(const retry_budget&) = delete;
    retry_budget& operator=(const retry_budget&) = delete;

    /// A first attempt is about to be made.
    void deposit() noexcept;

    /// May a retry be made? True takes its token.
    template <class Clock, class Duration>
    bool withdraw(std::chrono::time_point<Clock, Duration> now) noexcept {
        return withdraw_at(saturate_to_ns(now.time_since_epoch()));
    }

    /// Retries in the bucket.
    template <class Clock, class Duration>
    double balance(std::chrono::time_point<Clock, Duration> now) noexcept {
        return balance_at(saturate_to_ns(now.time_since_epoch()));
    }

    retry_budget_stats stats() const noexcept;

private:
    bool withdraw_at(std::chrono::nanoseconds now) noexcept;
    double balance_at(std::chrono::nanoseconds now) noexcept;
    void refill(std::int64_t now) noexcept;
    void put_in(std::int64_t parts) noexcept;

    std::int64_t capacity_; // in parts of a token, as all below
    std::int64_t per_deposit_;
    double per_ns_;
    std::atomic<std::int64_t> parts_;
    std::atomic<std::int64_t> filled_at_; // until when the minimum rate has been paid
    std::atomic<std::uint64_t> deposits_{0};
    std::atomic<std::uint64_t> granted_{0};
    std::atomic<std::uint64_t> refused_{0};
};

} // namespace cogwheel
