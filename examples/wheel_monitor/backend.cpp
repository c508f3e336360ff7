// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "backend.hpp"

#include "support/spawned.hpp"

#include <cogwheel/asio/error.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/net/idle_monitor.hpp>
#include <cogwheel/resilience/retry.hpp>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

namespace {

using namespace std::chrono_literals;
using asio::redirect_error;
using asio::use_awaitable;

constexpr int callers = 8, connections = 20;

} // namespace

void backend::add_to(cogwheel::metrics& metrics) {
    metrics.add("backend", wheel_);
    metrics.add("backend", breaker_);
    metrics.add("backend", retries_);
    metrics.add("backend", budget_);
    metrics.counter("backend_calls_total", "Calls of the backend, each with its retries.",
                    [this] { return static_cast<double>(calls_); });
    metrics.counter("backend_calls_failed_total", "Calls that failed after all their retries.",
                    [this] { return static_cast<double>(failed_calls_); });
    metrics.gauge("backend_up", "1 if the backend answers.", [this] { return backend_is_down_ ? 0.0 : 1.0; });
}

void backend::start() {
    const auto executor = wheel_.get_executor();
    asio::co_spawn(executor, backend_weather(), rethrow);
    for (int i = 0; i < callers; ++i) asio::co_spawn(executor, calls(), rethrow);
    for (int i = 0; i < connections; ++i) asio::co_spawn(executor, quiet_connection(), rethrow);
}

std::chrono::milliseconds backend::between(int least, int most) {
    return std::chrono::milliseconds{std::uniform_int_distribution{least, most}(random_)};
}

asio::awaitable<void> backend::calls() {
    const cogwheel::retry_policy policy{
        .attempts = 3,
        .backoff = cogwheel::backoff::exponential(20ms).cap(200ms).jitter(cogwheel::backoff_jitter::full),
        .budget = &budget_,
        .counts = &retries_};
    for (;;) {
        std::error_code ec;
        co_await wheel_.async_wait(between(20, 120), redirect_error(use_awaitable, ec));
        if (ec) co_return; // the wheel has stopped
        const auto attempt = [this]() -> asio::awaitable<void> {
            if (const auto failure = co_await call_backend(); failure) throw std::system_error{failure};
        };
        try {
            co_await cogwheel::async_retry(wheel_, policy, attempt, use_awaitable);
        } catch (const std::system_error&) {
            ++failed_calls_;
        }
        ++calls_;
    }
}

/// One attempt: the breaker is asked, and an answer may take 30 ms.
asio::awaitable<std::error_code> backend::call_backend() {
    auto call = breaker_.allow();
    if (!call) co_return cogwheel::errc::circuit_open;
    std::error_code ec;
    const auto answer_after = backend_is_down_ ? 1000ms : between(5, 35);
    const auto token = redirect_error(use_awaitable, ec);
    co_await wheel_.async_wait(answer_after, cogwheel::timeout(wheel_, 30ms, token));
    call.ended(ec);
    co_return ec;
}

/// The backend is up for two seconds and down for one.
asio::awaitable<void> backend::backend_weather() {
    for (std::error_code ec; !ec; backend_is_down_ = !backend_is_down_) {
        const auto until_change = backend_is_down_ ? 1s : 2s;
        co_await wheel_.async_wait(until_change, redirect_error(use_awaitable, ec));
    }
}

/// A connection is touched again and again, with pauses. Some pauses are longer than its idle timeout.
asio::awaitable<void> backend::quiet_connection() {
    cogwheel::idle_monitor idle{wheel_, {.reader = 200ms}};
    const auto report = [](std::error_code, cogwheel::idle_event) {};
    for (std::error_code ec; !ec;) {
        if (!idle.waiting()) idle.async_idle(report); // the last event has been reported
        co_await wheel_.async_wait(between(20, 250), redirect_error(use_awaitable, ec));
        idle.touch_read();
    }
}
