// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Accepts, and ends in good order.
#pragma once

#include "connection.hpp"

#include <cogwheel/counts/wheel_stats.hpp>

#include <asio/io_context.hpp>

#include <memory>
#include <string>
#include <unordered_set>

namespace guard {

class server {
public:
    /// Errors: std::system_error if the port cannot be had.
    server(asio::io_context& io, std::uint16_t port, const demands& demanded);

    asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    /// Drops all connections. The context's run() can then return.
    void stop();

    const counts& counted() const { return counts_; }
    cogwheel::wheel_stats timer_stats() const { return wheel_.stats(); }
    std::string summary() const;

private:
    asio::awaitable<void> accept();

    demands demands_;
    counts counts_;
    wheel wheel_;
    asio::ip::tcp::acceptor acceptor_;
    std::unordered_set<std::shared_ptr<connection>> connections_;
};

} // namespace guard
