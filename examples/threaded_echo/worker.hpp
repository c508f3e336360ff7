// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What one thread has: a loop, a wheel, a listening socket and its connections. No other thread touches them, so the
// wheel is a local_timer_wheel and nothing has a lock. Only drain() may be called from elsewhere; it posts.
//
// All listening sockets have the same port (SO_REUSEPORT, Linux 3.9). The system gives each new connection to one of
// them, by a hash of the addresses: with few clients, some threads get more than others. Where the option is missing,
// or the shares must be equal, one acceptor can hand out the sockets in turn: `acceptor.async_accept(next_context)`.
#pragma once

#include "connection.hpp"

#include <asio/io_context.hpp>

#include <memory>
#include <string>
#include <unordered_set>

namespace threaded {

class worker {
public:
    /// Listens. Errors: std::system_error.
    worker(const options& wanted, const asio::ip::tcp::endpoint& at);

    asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    /// Serves in the calling thread until drain() was called and the last connection has left.
    /// Errors: what a handler throws. Call it again to go on.
    void run() { io_.run(); }

    /// Accepts no more, and ends the connections in good order. Thread safety: any thread.
    void drain();

    /// Call it after run().
    const counts& counted() const { return counts_; }
    std::string summary() const;

private:
    asio::awaitable<void> accept();
    void start(asio::ip::tcp::socket socket);
    void left(const std::shared_ptr<connection>& client);
    void begin_to_drain();
    void cut();

    const options& options_;
    counts counts_;
    asio::io_context io_{1};
    cogwheel::local_timer_wheel wheel_{io_};
    asio::ip::tcp::acceptor acceptor_;
    std::unordered_set<std::shared_ptr<connection>> connections_;
    cogwheel::local_timer_token drain_limit_;
    bool draining_ = false;
};

} // namespace threaded
