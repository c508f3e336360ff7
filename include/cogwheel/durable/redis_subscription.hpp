// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Receives the messages of channels (SUBSCRIBE), on a connection of its own:
//
//     cogwheel::redis_subscription wakes(wheel, options, {"wake"}, [&](std::string_view, std::string_view payload) {
//         wake(payload);
//     });
//     wakes.on_subscribed([&] { look_for_what_was_missed(); });
//
// It connects and subscribes again by itself, in the same way as redis_client. Messages that are published meanwhile
// are lost: on_subscribed says when to look.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/durable/redis_options.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class redis_subscription_impl;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Works on a strand of the wheel's executor; calls its functions there. They must not throw.
/// Effects: a PING 2 s after the subscription, and again 2 s after each command_timeout that follows a PING. A server
///   that is silent in this time is given up.
/// Thread safety: any thread may call any function but the destructor and assignment.
/// Lifetime: the wheel and its execution context must outlive the subscription. When the destructor or close() returns
///   on another thread, one last call may be under way; on the strand, none follows.
class redis_subscription {
public:
    using message_function = std::function<void(std::string_view channel, std::string_view payload)>;

    /// Starts to connect. Errors: std::invalid_argument (options, no channel), std::bad_alloc.
    redis_subscription(const timer_wheel& wheel, redis_options options, std::vector<std::string> channels,
                       message_function on_message);
    redis_subscription(redis_subscription&&) noexcept;
    redis_subscription& operator=(redis_subscription&&) noexcept;
    /// The same as close().
    ~redis_subscription();

    /// Sets the function that is called each time when all channels are subscribed. Calls it soon if they are already.
    void on_subscribed(std::function<void()> f);

    /// Returns whether all channels are subscribed now.
    bool subscribed() const noexcept;

    /// Closes the connection for good.
    void close();

private:
    std::shared_ptr<detail::redis_subscription_impl> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
