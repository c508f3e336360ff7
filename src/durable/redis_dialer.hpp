// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Connects to one server and shakes hands with it, within connect_timeout.
#pragma once

#include "redis_handshake.hpp"
#include "redis_stream.hpp"
#include "resp_reader.hpp"
#include "sure_timer.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(awaitable.hpp)

#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A connection that is ready for commands, or why there is none.
struct dialled {
    error_code error{};
    std::string message{}; // with the words of the server or of the system
    redis_address address{};
    std::shared_ptr<redis_stream> stream{};
    std::unique_ptr<resp_reader> reader{};
    int version = 0;
    std::string server{};
    redis_role role = redis_role::unknown;
};

struct asked {
    error_code error{};
    std::string message{};
    std::vector<redis_reply> replies{};
};

/// For one strand; one coroutine at a time may use it. stop() ends what the coroutine waits for.
class redis_dialer : public std::enable_shared_from_this<redis_dialer> {
public:
    /// tls: of another dialer with the same options; nullptr: it makes its own.
    redis_dialer(const timer_wheel& wheel, const redis_strand& strand, std::shared_ptr<const redis_options> options,
                 std::shared_ptr<asio::ssl::context> tls = nullptr);

    const redis_options& options() const noexcept { return *options_; }
    const std::shared_ptr<asio::ssl::context>& tls() const noexcept { return tls_; }

    /// sentinel: the server is one.
    asio::awaitable<dialled> dial(redis_address address, bool sentinel);
    /// Sends a command to a server that was dialled, and waits for its reply, within connect_timeout.
    asio::awaitable<asked> ask(dialled& server, redis_command command);
    /// Waits. wake() and stop() end it.
    asio::awaitable<void> pause(std::chrono::nanoseconds delay);

    void wake();
    void stop();
    bool stopped() const noexcept { return stopped_; }

    /// Gives a line to the log. An exception from there is dropped.
    void log(const std::string& line) const noexcept;
    /// The same, but not again within a minute, unless something has worked meanwhile.
    void log_failure(const std::string& line);
    void forget_failures() noexcept { failures_.clear(); }

private:
    class limit;
    struct resolution;
    using endpoint = asio::generic::stream_protocol::endpoint;

    asio::awaitable<void> connect(dialled& d);
    asio::awaitable<void> shake_hands(dialled& d, bool sentinel);
    asio::awaitable<std::vector<endpoint>> resolve(dialled& d);
    asio::awaitable<asked> exchange(dialled& d, std::string bytes, std::size_t replies);
    void interrupt();
    void set_error(dialled& d, const char* what, const error_code& ec) const;
    error_code reason(const error_code& ec) const noexcept;

    redis_strand strand_;
    std::shared_ptr<const redis_options> options_;
    std::shared_ptr<asio::ssl::context> tls_;
    sure_timer<redis_strand> limit_timer_, pause_timer_;
    std::shared_ptr<redis_stream> current_;
    std::shared_ptr<resolution> resolving_;
    std::size_t first_ = 0; // of several endpoints
    std::vector<std::pair<std::string, std::chrono::steady_clock::time_point>> failures_;
    bool timed_out_ = false;
    bool stopped_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
