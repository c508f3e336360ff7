// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A server whose answers take a while, and overtake each other. All its timers are one wheel's.
#pragma once

#include "session.hpp"
#include "support/listen.hpp"
#include "support/statistics_signal.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <unordered_set>

namespace rpc {

class server {
public:
    /// Listens. Errors: std::system_error (the port cannot be had).
    explicit server(const server_options& o);

    /// "ADDRESS:PORT", with the port that the system chose.
    std::string endpoint() const { return to_text(acceptor_.local_endpoint()); }

    /// Serves until SIGINT or SIGTERM; then until what has been asked is answered, but for no longer than --grace.
    /// Errors: what has ended the accept loop.
    void run() { io_.run(); }

    std::string summary() const;

private:
    void accept_if_room();
    bool start(tcp::socket socket);
    void left(const std::shared_ptr<session>& client, const std::exception_ptr& failure);
    void stop();

    const server_options options_;
    load load_{options_};
    statistics counts_;
    std::size_t most_clients_ = 0;
    std::mt19937_64 random_;
    asio::io_context io_{1};
    cogwheel::timer_wheel wheel_{io_, {.tick = std::chrono::milliseconds{1}}};
    tcp::acceptor acceptor_ = listen_on(io_.get_executor(), {asio::ip::address_v4::loopback(), options_.port});
    asio::signal_set signals_{io_, SIGINT, SIGTERM};
    statistics_signal statistics_{io_.get_executor(), [this] { return summary(); }};
    std::unordered_set<std::shared_ptr<session>> clients_;
    bool accepting_ = false;
    cogwheel::timer_token end_of_grace_;
};

} // namespace rpc
