// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A connection to one Redis server, over TCP, TLS or a unix socket. It connects at once and again after each fault,
// with the pauses of redis_options::reconnect, until close().
//
//     cogwheel::redis_connection redis(wheel, options, options.addresses[0]);
//     co_await redis.async_wait_connected(asio::use_awaitable);
//     auto reply = co_await redis.async_command({"PING"}, asio::use_awaitable);
//
// - Commands of several callers share the connection: they are written together and answered in order (pipelining).
// - An error reply is a reply, not an error_code; redis_reply::error() names it.
// - A command is sent at once or fails at once. It is never sent twice.
// redis_client finds the right server by itself.
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
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class redis_connection_impl;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What a server does in its group.
enum class redis_role : std::uint8_t {
    unknown, ///< not connected yet, or the user may not ask (ACL)
    master,
    replica,
    sentinel,
};
std::string_view to_string(redis_role) noexcept; ///< the name of the constant

/// Works on a strand of the wheel's executor.
/// Thread safety: any thread may call any function but the destructor and assignment.
/// Lifetime: the wheel and its execution context must outlive the connection.
class redis_connection {
public:
    using executor_type = asio::any_io_executor;

    /// Starts to connect. Errors: std::invalid_argument (redis_options::validate()), std::bad_alloc.
    redis_connection(const timer_wheel& wheel, redis_options options, redis_address address);
    redis_connection(redis_connection&&) noexcept;
    redis_connection& operator=(redis_connection&&) noexcept;
    /// The same as close().
    ~redis_connection();

    /// The strand.
    executor_type get_executor() const noexcept;

    /// Sends a command and waits for its reply.
    /// Preconditions: the command has one reply: so it is none of SUBSCRIBE (redis_subscription does that), MONITOR and
    ///   CLIENT REPLY.
    /// Completion signature: void(std::error_code, redis_reply): success, also with an error reply;
    ///   durable_errc::not_connected: not sent. durable_errc::server_busy: not sent, max_in_flight commands wait.
    ///   durable_errc::disconnected: sent, perhaps, and no reply: the connection broke, or command_timeout passed for
    ///   this or an earlier command. durable_errc::bad_reply: the reply of this command or of an earlier one is not
    ///   RESP, or longer than max_reply. asio::error::operation_aborted: close().
    ///   asio::error::invalid_argument: not sent, the command has no arguments.
    ///   The handler never runs inside this call.
    /// Cancellation: all types. The handler completes at once; the server may do the command.
    /// Executor: the handler's associated one, else the strand.
    template <class Token>
    auto async_command(redis_command command, Token&& token) {
        return detail::initiate<redis_reply>(
            get_executor(), std::forward<Token>(token),
            [impl = impl_, c = std::move(command)](detail::completion<redis_reply> done) mutable {
                start(*impl, std::move(c), std::move(done));
            });
    }

    /// Sends commands together, in order, and waits for all their replies. No command of another caller comes between
    /// them. Everything else is as with async_command(): either all commands have a reply, or there is an error.
    /// Completion signature: void(std::error_code, std::vector<redis_reply>).
    template <class Token>
    auto async_commands(std::vector<redis_command> commands, Token&& token) {
        return detail::initiate<std::vector<redis_reply>>(
            get_executor(), std::forward<Token>(token),
            [impl = impl_, c = std::move(commands)](detail::completion<std::vector<redis_reply>> done) mutable {
                start(*impl, std::move(c), std::move(done));
            });
    }

    /// Waits until the connection is ready for commands.
    /// Completion signature: void(std::error_code): success; durable_errc::access_denied: wrong user or password (the
    ///   connection tries again meanwhile); asio::error::operation_aborted: close().
    /// Cancellation, Executor: as with async_command().
    template <class Token>
    auto async_wait_connected(Token&& token) {
        return detail::initiate<void>(get_executor(), std::forward<Token>(token),
                                      [impl = impl_](detail::completion<void> done) { wait(*impl, std::move(done)); });
    }

    /// Closes the connection for good. Commands in flight complete with asio::error::operation_aborted.
    void close();

    /// Returns whether the connection is ready for commands now.
    bool connected() const noexcept;
    /// Returns the server's role, as it was when the connection was made.
    redis_role role() const noexcept;
    /// Returns the server's version, 70015 for 7.0.15, as it was when the connection was made; 0 if it is not
    /// known. Valkey states that of the Redis with which it is compatible.
    int version() const noexcept;

    /// Sets the function that is called on the strand with each change: (true, {}) when the connection is ready,
    /// (false, reason) when it breaks or an attempt to connect fails. Calls it soon if the connection is ready already.
    /// It must not throw.
    void on_state(std::function<void(bool connected, error_code)> hook);

private:
    static void start(detail::redis_connection_impl&, redis_command, detail::completion<redis_reply>);
    static void start(detail::redis_connection_impl&, std::vector<redis_command>,
                      detail::completion<std::vector<redis_reply>>);
    static void wait(detail::redis_connection_impl&, detail::completion<void>);

    std::shared_ptr<detail::redis_connection_impl> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
