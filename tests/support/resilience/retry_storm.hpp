// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Ten thousand clients lose their server at the same moment, and it is back after 30 s. Each calls it by async_retry,
// on one wheel in virtual time; who gives up comes back 5 to 15 s later. What is counted are the calls that the server
// would see.
#pragma once

#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/resilience/retry.hpp>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <vector>

namespace cogwheel_tests {

class retry_storm {
    using wheel_type = manual_local_timer_wheel;
    using policy_type = cogwheel::basic_retry_policy<manual_clock>;
    using attempt_type = cogwheel::basic_retry_attempt<manual_clock>;
    using milliseconds = std::chrono::milliseconds;

public:
    static constexpr int clients = 10'000;
    static constexpr std::chrono::seconds outage{30};
    static constexpr milliseconds bin{100};
    static constexpr cogwheel::retry_budget_options budget{.ratio = 0.2, .min_per_second = 500, .capacity = 1000};

    struct defences {
        bool jitter;
        bool budget;
    };
    struct bins {
        std::vector<int> first_attempts; ///< a bin each
        std::vector<int> retries;

        long long all_first_attempts() const { return total(first_attempts, first_attempts.size()); }
        long long all_retries() const { return total(retries, retries.size()); }
        /// While the server is away.
        int peak_of_retries() const { return *std::max_element(retries.begin(), retries.begin() + bins_of_outage); }
        double mean_of_retries() const {
            return static_cast<double>(total(retries, bins_of_outage)) / static_cast<double>(bins_of_outage);
        }
        std::chrono::duration<double> length() const { return bin * static_cast<int>(retries.size()); }

        friend bool operator==(const bins&, const bins&) = default;

    private:
        static constexpr std::ptrdiff_t bins_of_outage = outage / bin;
        template <class N>
        static long long total(const std::vector<int>& v, N n) {
            return std::accumulate(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n), 0LL);
        }
    };

    explicit retry_storm(defences d, std::uint64_t seed = 1) : random_(seed) {
        policy_.attempts = 8;
        policy_.backoff = cogwheel::backoff::exponential(std::chrono::seconds(1)).cap(std::chrono::seconds(8));
        policy_.random = random_;
        if (d.jitter) policy_.backoff = policy_.backoff.jitter(cogwheel::backoff_jitter::full);
        if (d.budget) policy_.budget = &shared_;
    }

    /// Until all have been served, and 40 s at the least; gives up after 10 minutes.
    bins run() {
        for (int i = 0; i < clients; ++i) call();
        run_ready(io_);
        while (time() < std::chrono::seconds(40) || (served_ < clients && time() < std::chrono::minutes(10)))
            pass(io_, milliseconds(10));
        return seen_;
    }
    int served() const { return served_; }
    cogwheel::retry_budget_stats budget_stats() const { return shared_.stats(); }

private:
    manual_clock::duration time() const { return manual_clock::now() - start_; }

    // Refused at once while the server is away.
    template <class Token>
    auto async_answer(Token&& token) {
        return asio::async_initiate<Token, void(std::error_code)>(
            [this](auto handler) {
                asio::post(io_, [this, h = std::move(handler)]() mutable {
                    std::move(h)(time() < outage ? std::error_code(asio::error::connection_refused)
                                                 : std::error_code());
                });
            },
            token);
    }

    void call() {
        cogwheel::async_retry(
            wheel_, policy_,
            [this](attempt_type& attempt, auto token) {
                note(attempt.number());
                return async_answer(token);
            },
            [this](std::error_code ec, const cogwheel::retry_result&) {
                if (!ec)
                    ++served_;
                else
                    come_back();
            });
    }

    void come_back() {
        const auto pause = cogwheel::backoff::constant(std::chrono::seconds(10)).jitter(cogwheel::backoff_jitter::full);
        wheel_.schedule(std::chrono::seconds(5) + pause.next(1, {}, random_), [this] { call(); });
    }

    void note(std::uint32_t number) {
        const auto at = static_cast<std::size_t>(time() / bin);
        for (auto* v : {&seen_.first_attempts, &seen_.retries})
            if (v->size() <= at) v->resize(at + 1);
        ++(number == 1 ? seen_.first_attempts : seen_.retries)[at];
    }

    asio::io_context io_;
    wheel_type wheel_{io_};
    std::mt19937_64 random_;
    cogwheel::retry_budget shared_{budget};
    policy_type policy_;
    manual_clock::time_point start_ = manual_clock::now();
    bins seen_;
    int served_ = 0;
};

} // namespace cogwheel_tests
