// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The tunnels, how many there may be, and how they end.
#pragma once

#include "tunnel.hpp"

#include <cogwheel/net/session_group.hpp>

#include <asio/io_context.hpp>

#include <array>
#include <list>
#include <string>

namespace tcp_proxy {

struct target {
    std::string host;
    std::string service;
};

/// For one thread.
class proxy {
public:
    /// Errors: std::system_error if the port cannot be had.
    proxy(asio::io_context& io, std::uint16_t port, target to, const limits& limits);

    asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    /// Accepts no more, and waits until all tunnels have ended. Those that are still open after limits::drain are cut.
    asio::awaitable<void> drain();
    void cut();
    std::uint64_t count(ending how) const { return endings_[static_cast<std::size_t>(how)]; }

    std::string summary() const;

private:
    void accept_if_room();
    asio::awaitable<void> accept();
    bool start(asio::ip::tcp::socket client);
    void ended(std::list<tunnel>::iterator which, const std::exception_ptr& failure, ending how);

    const target target_;
    const limits limits_;
    cogwheel::local_timer_wheel wheel_;
    asio::ip::tcp::acceptor acceptor_;
    cogwheel::session_group<cogwheel::local_timer_wheel> sessions_{wheel_};
    std::list<tunnel> tunnels_;
    bool accepting_ = false;
    bool stopping_ = false;
    bool complained_ = false;
    std::array<std::uint64_t, 6> endings_{};
    std::uint64_t failed_ = 0; // for want of memory, say
    std::uint64_t bytes_ = 0;
};

} // namespace tcp_proxy
