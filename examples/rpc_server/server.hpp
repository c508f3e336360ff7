// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A server whose answers take a while, and overtake each other. All its timers are one wheel's.
#pragma once

#include "support/listen.hpp"
#include "support/rpc_channel.hpp"
#include "support/statistics_signal.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <random>

namespace rpc {

struct options {
    std::uint16_t port = 0;
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds idle = std::chrono::seconds{30};
    std::uint64_t seed = 1;
    bool help = false;
};

class server {
public:
    explicit server(const options& o);

    /// Serves until SIGINT or SIGTERM, and says where and what.
    void run();

private:
    asio::awaitable<void> accept();
    asio::awaitable<void> serve(tcp::socket socket);
    void handle(const std::shared_ptr<channel>& client, frame request);
    std::chrono::nanoseconds delay();
    std::string summary() const;
    void stop();

    const options options_;
    asio::io_context io_{1};
    cogwheel::timer_wheel wheel_{io_, {.tick = std::chrono::milliseconds{1}}};
    tcp::acceptor acceptor_ = listen_on(io_.get_executor(), {asio::ip::address_v4::loopback(), options_.port});
    asio::signal_set signals_{io_, SIGINT, SIGTERM};
    statistics_signal statistics_{io_.get_executor(), [this] { return summary(); }};
    std::mt19937_64 random_;
    std::uint64_t connections_ = 0, requests_ = 0, answered_ = 0, idle_ = 0;
};

/// The program. 0: served until the end; 2: it could not start as asked.
int run(int argc, char** argv);

} // namespace rpc
