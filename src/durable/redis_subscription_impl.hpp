// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What is behind redis_subscription: one coroutine that connects, subscribes and reads.
#pragma once

#include "redis_finder.hpp"

#include <cogwheel/durable/redis_subscription.hpp>
#include <cogwheel/resilience/random.hpp>

#include <atomic>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class redis_subscription_impl : public std::enable_shared_from_this<redis_subscription_impl> {
public:
    using message_function = redis_subscription::message_function;

    redis_subscription_impl(const timer_wheel& wheel, std::shared_ptr<const redis_options> options,
                            std::vector<std::string> channels, message_function on_message);

    /// Starts to connect. Called once.
    void run();
    void set_on_subscribed(std::function<void()> f);
    bool subscribed() const noexcept { return subscribed_.load(std::memory_order_acquire); }
    void close();

private:
    static asio::awaitable<void> work(std::shared_ptr<redis_subscription_impl> self);
    asio::awaitable<void> serve(dialled& d);
    bool take(redis_reply& reply);
    void watch(std::shared_ptr<redis_stream> stream, std::chrono::nanoseconds delay);
    void call(const std::function<void()>& f) const;

    const redis_strand strand_;
    const std::shared_ptr<const redis_options> options_;
    const std::vector<std::string> channels_;
    const message_function on_message_;
    std::function<void()> on_subscribed_;
    const std::shared_ptr<redis_dialer> dialer_;
    const std::unique_ptr<redis_finder> finder_;
    std::shared_ptr<redis_stream> stream_;
    sure_timer<redis_strand> ping_;
    backoff_sequence pauses_;
    small_random random_;
    std::size_t confirmed_ = 0;
    std::atomic<bool> subscribed_ = false;
    std::atomic<bool> closed_ = false; // before the strand knows
    bool pinging_ = false;
    bool awaits_pong_ = false;
    bool silent_ = false;
    bool shut_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
