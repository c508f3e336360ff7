// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client and its target: four waits that could last for ever, and a limit for each.
#pragma once

#include "support/steady_write.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/net/idle_monitor.hpp>

#include <asio/awaitable.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace tcp_proxy {

struct limits {
    std::chrono::nanoseconds connect = std::chrono::seconds(5); ///< to find the target and to connect
    std::chrono::nanoseconds idle = std::chrono::minutes(5);    ///< without traffic in either direction
    std::chrono::nanoseconds write = std::chrono::seconds(30);  ///< in which a peer takes no byte
    std::chrono::nanoseconds drain = std::chrono::seconds(30);  ///< for the tunnels that are open at the end
    std::size_t tunnels = 1000;                                 ///< further clients wait in the system's queue
};

enum class ending { done, unreachable, idle, stuck, broken, cut };

/// For one thread. It outlives run().
class tunnel {
public:
    tunnel(asio::ip::tcp::socket client, cogwheel::local_timer_wheel& wheel, const limits& limits)
        : limits_{limits},
          wheel_{wheel},
          client_{std::move(client)},
          target_{client_.get_executor()},
          to_client_{client_, wheel, limits.write},
          to_target_{target_, wheel, limits.write} {}

    /// From the connection to the target until both sides have ended. Both sockets are closed then.
    asio::awaitable<ending> run(const std::string& host, const std::string& service);

    /// Ends run() soon.
    void cut() noexcept;

    std::uint64_t bytes() const { return bytes_; }
    const std::error_code& error() const { return error_; } ///< if the target could not be reached

private:
    using writer = steady_writer<asio::ip::tcp::socket, cogwheel::local_timer_wheel>;

    void close() noexcept;
    asio::awaitable<std::error_code> connect(const std::string& host, const std::string& service);
    asio::awaitable<void> pump(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to, writer& out,
                               cogwheel::idle_monitor<cogwheel::local_timer_wheel>& idle);

    const limits& limits_;
    cogwheel::local_timer_wheel& wheel_;
    asio::ip::tcp::socket client_;
    asio::ip::tcp::socket target_;
    writer to_client_;
    writer to_target_;
    asio::cancellation_signal resolving_;
    bool closed_ = false;
    ending ending_ = ending::done;
    std::error_code error_;
    std::uint64_t bytes_ = 0;
};

} // namespace tcp_proxy
