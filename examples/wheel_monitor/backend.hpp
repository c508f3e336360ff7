// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Calls of a backend that is sometimes slow and sometimes down, and connections that fall silent: so the metrics have
// retries, a circuit breaker and idle events to show. All of it lives in this process.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/observe/metrics.hpp>
#include <cogwheel/resilience/circuit_breaker.hpp>
#include <cogwheel/resilience/retry_budget.hpp>
#include <cogwheel/resilience/retry_counts.hpp>

#include <asio/awaitable.hpp>

#include <cstdint>
#include <random>

/// For one thread. Lifetime: the wheel outlives it; it lives until the context has run after the wheel's stop().
class backend {
public:
    explicit backend(cogwheel::timer_wheel& wheel) : wheel_{wheel} {}
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;

    /// Lifetime of `metrics`: do not render after it has gone.
    void add_to(cogwheel::metrics& metrics);

    /// Starts the work. It ends when the wheel stops; a failure leaves the context's run().
    void start();

private:
    asio::awaitable<void> calls();
    asio::awaitable<std::error_code> call_backend();
    asio::awaitable<void> backend_weather();
    asio::awaitable<void> quiet_connection();
    std::chrono::milliseconds between(int least, int most);

    cogwheel::timer_wheel& wheel_;
    cogwheel::circuit_breaker<> breaker_{
        wheel_, {.failures_in_a_row = 5, .open_for = cogwheel::backoff::constant(std::chrono::milliseconds(500))}};
    cogwheel::retry_budget budget_{{.ratio = 0.2, .min_per_second = 5, .capacity = 20}};
    cogwheel::retry_counts retries_;
    std::minstd_rand random_;
    bool backend_is_down_ = false;
    std::uint64_t calls_ = 0, failed_calls_ = 0;
};
