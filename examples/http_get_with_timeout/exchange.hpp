// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One request and its response, step by step. Each step is told until when; who asks combines the limits.
//
// For one thread. The stream watches for pauses itself; all other limits are timers of the operations they bound, and
// are gone with them.
#pragma once

#include "response.hpp"

#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/resilience/deadline.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace http {

using wheel = cogwheel::local_timer_wheel;
using body_sink = std::function<void(std::string_view)>;

struct target {
    std::string host; // a name or an address
    std::string port;
    std::string path;
};

struct limits {
    std::chrono::nanoseconds connect = std::chrono::seconds{5};     // look-up and connection
    std::chrono::nanoseconds first_byte = std::chrono::seconds{10}; // from there to the first byte of the response
    std::chrono::nanoseconds header = std::chrono::seconds{10};     // from there to the end of its header
    std::chrono::nanoseconds body_idle = std::chrono::seconds{10};  // from one piece of the body to the next
    std::chrono::nanoseconds total = std::chrono::seconds{60};
};

/// Which limit ended an exchange. The values are the program's exit codes.
enum class limit : int { connect = 3, first_byte, header, body_idle, total };

class limit_reached : public std::runtime_error {
public:
    explicit limit_reached(limit w);
    limit which() const noexcept { return which_; }

private:
    limit which_;
};

class exchange {
public:
    exchange(const asio::any_io_executor& executor, wheel& timers, cogwheel::deadline total);

    // Each throws limit_reached, std::system_error, or std::runtime_error if the peer does not speak HTTP.
    asio::awaitable<void> connect(const target& to, cogwheel::deadline until);
    asio::awaitable<void> ask(const target& to, cogwheel::deadline until); // done when the first byte has come
    asio::awaitable<response> header(cogwheel::deadline until);
    asio::awaitable<void> body(const response& answer, std::chrono::nanoseconds idle, const body_sink& sink);

private:
    asio::awaitable<asio::ip::tcp::resolver::results_type> look_up(const target& to, cogwheel::deadline until);
    asio::awaitable<std::string> head(cogwheel::deadline until);
    asio::awaitable<std::string> line();
    asio::awaitable<void> pass(std::optional<std::uint64_t> left, const body_sink& sink);
    asio::awaitable<void> chunks(const body_sink& sink);
    void check(std::error_code ec, const char* what, limit step, cogwheel::deadline until);

    cogwheel::idle_stream<asio::ip::tcp::socket, wheel> stream_;
    wheel& timers_;
    cogwheel::deadline total_;
    std::string data_; // has arrived and is not used yet
};

/// 0: the whole response has come; 1: the peer, or the way to it, failed; a limit's own code.
int exit_code(const std::exception_ptr& failure);
std::string describe(const std::exception_ptr& failure);

} // namespace http
