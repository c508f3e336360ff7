// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A client of one Redis server, of a group with sentinels, or of a cluster. It finds the server for each command:
//
//     cogwheel::redis_client redis(wheel, cogwheel::redis_options::from_url("cluster://10.0.0.1:7000"));
//     auto reply = co_await redis.async_command(
//         cogwheel::redis_command("GET").key("greeting"), asio::use_awaitable);
//
// - Sentinels: asks them in turn for the master, and believes only a server whose ROLE says so. It asks again when the
//   connection breaks, or when a reply says that the server is a replica (READONLY) now.
// - Cluster: one connection to each master, made on demand. The routing key of a command chooses the node. The client
//   follows MOVED and ASK. While a cluster has no master for a key (TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN), it
//   sends the command again until command_timeout. All these replies mean that the command was not done.
// - After durable_errc::disconnected a command may have been done: it is not sent again.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/durable/detail/completion.hpp>
#include <cogwheel/durable/redis_command.hpp>
#include <cogwheel/durable/redis_options.hpp>
#include <cogwheel/durable/redis_reply.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class redis_client_impl;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Works on a strand of the wheel's executor.
/// Thread safety: any thread may call any function but the destructor and assignment.
/// Lifetime: the wheel and its execution context must outlive the client.
class redis_client {
public:
    using executor_type = asio::any_io_executor;

    /// Starts to connect. Errors: std::invalid_argument (redis_options::validate()), std::bad_alloc.
    redis_client(const timer_wheel& wheel, redis_options options);
    redis_client(redis_client&&) noexcept;
    redis_client& operator=(redis_client&&) noexcept;
    /// The same as close().
    ~redis_client();

    /// The strand.
    executor_type get_executor() const noexcept;

    /// Sends a command to its server and waits for the reply. As redis_connection::async_command(), and in a cluster:
    ///   a command without a routing key goes to any master; durable_errc::server_busy: the cluster had no master for
    ///   the key until command_timeout; the command was not done.
    template <class Token>
    auto async_command(redis_command command, Token&& token) {
        return detail::initiate<redis_reply>(
            get_executor(), std::forward<Token>(token),
            [impl = impl_, c = std::move(command)](detail::completion<redis_reply> done) mutable {
                start(*impl, std::move(c), std::move(done));
            });
    }

    /// Sends commands together, in order, and waits for all replies. As redis_connection::async_commands().
    /// Preconditions: in a cluster, all commands have routing keys of one slot (one hash tag), or none has one;
    ///   there is no MULTI: a node that refuses one of its commands has discarded all.
    /// Effects: in a cluster, if the slot moves between two of the commands, those that the old node has refused are
    ///   sent to the new one, in order. With them go those that only have a route(): so WAIT counts the replicas of
    ///   the new node. If only a part can be done until command_timeout, the error is durable_errc::disconnected.
    template <class Token>
    auto async_commands(std::vector<redis_command> commands, Token&& token) {
        return detail::initiate<std::vector<redis_reply>>(
            get_executor(), std::forward<Token>(token),
            [impl = impl_, c = std::move(commands)](detail::completion<std::vector<redis_reply>> done) mutable {
                start(*impl, std::move(c), std::move(done));
            });
    }

    /// Sends a command to every master (one, unless this is a cluster) and waits for all replies, in no fixed order.
    /// Completion signature: void(std::error_code, std::vector<redis_reply>); with an error, the replies are
    /// incomplete. Error durable_errc::disconnected: a part of the masters may have done the command.
    template <class Token>
    auto async_on_all(redis_command command, Token&& token) {
        return detail::initiate<std::vector<redis_reply>>(
            get_executor(), std::forward<Token>(token),
            [impl = impl_, c = std::move(command)](detail::completion<std::vector<redis_reply>> done) mutable {
                start_on_all(*impl, std::move(c), std::move(done));
            });
    }

    /// Waits until the client is ready for commands. As redis_connection::async_wait_connected(). In a cluster: until
    /// it knows the masters, and is connected to one.
    template <class Token>
    auto async_wait_connected(Token&& token) {
        return detail::initiate<void>(get_executor(), std::forward<Token>(token),
                                      [impl = impl_](detail::completion<void> done) { wait(*impl, std::move(done)); });
    }

    /// Closes all connections for good. Commands in flight complete with asio::error::operation_aborted.
    void close();

    /// Returns the address of the node that a command with this routing key goes to now. Empty if it is not known, or
    /// if this is not a cluster.
    std::string node_of(std::string_view key) const;

    /// Returns whether the client is ready for commands now.
    bool connected() const noexcept;
    /// Returns the version of the server that was connected last, 70015 for 7.0.15; 0 if it is not known. Valkey states
    /// that of the Redis with which it is compatible.
    int version() const noexcept;

    /// Sets the function that is called on the strand with each change. As redis_connection::on_state(). In a cluster,
    /// a change of the connection to any node is one.
    void on_state(std::function<void(bool connected, error_code)> hook);

private:
    static void start(detail::redis_client_impl&, redis_command, detail::completion<redis_reply>);
    static void start(detail::redis_client_impl&, std::vector<redis_command>,
                      detail::completion<std::vector<redis_reply>>);
    static void start_on_all(detail::redis_client_impl&, redis_command, detail::completion<std::vector<redis_reply>>);
    static void wait(detail::redis_client_impl&, detail::completion<void>);

    std::shared_ptr<detail::redis_client_impl> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
