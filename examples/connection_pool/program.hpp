// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What surrounds the pool: a server to ask, and a trial of what the pool promises.
#pragma once

#include "pool.hpp"

#include <asio/read_until.hpp>
#include <asio/write.hpp>

#include <list>
#include <string>

namespace demo {

using wheel = cogwheel::local_timer_wheel;
using pool_pointer = std::shared_ptr<connection_pool<wheel>>;

constexpr std::size_t longest_line = 4096; // without a bound, a peer that ends none fills the memory

/// Asks the server in a line, which it answers by one.
asio::awaitable<std::string> ask(pool_pointer pool, std::string question, std::chrono::nanoseconds patience);

/// Echoes lines, but hangs up in the middle of the answer to "drop".
class echo_server {
public:
    echo_server(const asio::any_io_executor& executor, wheel& timers);

    asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
    int accepted() const { return accepted_; }
    std::size_t connections() const { return connections_.size(); }

    void hang_up(); // all of them
    void stop();

private:
    asio::awaitable<void> accept(wheel& timers);
    asio::awaitable<void> serve(asio::ip::tcp::socket& client);

    asio::ip::tcp::acceptor acceptor_;
    std::list<asio::ip::tcp::socket> connections_;
    int accepted_ = 0;
};

/// The program. 0: the pool kept its promises; 1: it did not, and a line says which; 2: bad command line.
int run(int argc, char** argv);

} // namespace demo
