// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Work for two wheels, so that the page has something to show. All of it lives in this process:
//
// - "server", a hashed wheel: sessions that expire unless they are used, requests with a timeout, heartbeats, and now
//   and then a reload of the configuration. Its type has an observer that measures the handlers.
// - "subscriptions", a hierarchical wheel: timers of up to 30 days.
#pragma once

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/observe/handler_times.hpp>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <random>
#include <vector>

using watched_wheel =
    cogwheel::basic_timer_wheel<std::chrono::steady_clock, cogwheel::multi_threaded,
                                cogwheel::observed_wheel<cogwheel::hashed_wheel, cogwheel::handler_times>>;

/// For one thread. Lifetime: it lives until the context has run after stop().
class work {
public:
    work(asio::io_context& io, std::size_t sessions, std::chrono::nanoseconds blocked_for)
        : io_{io}, sessions_(sessions), blocked_for_{blocked_for} {}
    work(const work&) = delete;
    work& operator=(const work&) = delete;

    /// Starts the work. A failure leaves the context's run().
    void start();
    void stop() {
        server_.stop();
        subscriptions_.stop();
    }

    const watched_wheel& server() const { return server_; }
    const cogwheel::hierarchical_timer_wheel& subscriptions() const { return subscriptions_; }

private:
    struct send_heartbeat;
    struct reload_configuration;
    struct expire_session;
    struct renew_subscription;

    asio::awaitable<void> use_sessions();
    asio::awaitable<void> make_requests();
    asio::awaitable<void> request();
    std::chrono::milliseconds between(int least, int most) {
        return std::chrono::milliseconds{std::uniform_int_distribution{least, most}(random_)};
    }

    asio::io_context& io_;
    watched_wheel server_{io_};
    cogwheel::hierarchical_timer_wheel subscriptions_{io_};
    std::vector<watched_wheel::token_type> sessions_;
    const std::chrono::nanoseconds blocked_for_;
    std::minstd_rand random_;
};
