// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client: a coroutine that echoes, and two wheel timers that end it.
//
// - The idle timer lives as long as the connection. Each completed read or write pushes it back, which is a store.
// - The write limit lives as long as one write: scheduled before, cancelled after, so that a peer that does not read
//   cannot hold the connection.
//
// Everything here runs on the connection's executor: a strand of its own where the server has several threads. The
// timers are bound to it too. Between a timer's end in the wheel and its call on the strand an operation may complete:
// on_idle() and on_write_limit() look again before they close.
#pragma once

#include "options.hpp"
#include "statistics.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>

namespace echo {

class connection : public std::enable_shared_from_this<connection> {
public:
    connection(asio::ip::tcp::socket socket, cogwheel::timer_wheel& wheel, const options& limits, statistics& counts)
        : socket_{std::move(socket)}, wheel_{wheel}, limits_{limits}, counts_{counts} {}

    asio::any_io_executor get_executor() { return socket_.get_executor(); }

    /// Echoes until the peer has sent its last byte, an error, or close(). The socket is closed afterwards.
    /// `self` is this connection: the coroutine keeps it alive.
    asio::awaitable<void> serve(std::shared_ptr<connection> self);

    /// Ends serve(). Call it on get_executor().
    void close();

private:
    using clock = std::chrono::steady_clock;

    asio::awaitable<bool> echo(std::size_t size);
    void schedule_idle(clock::time_point deadline);
    void touch();
    void on_idle();
    void on_write_limit(std::uint64_t write);

    asio::ip::tcp::socket socket_;
    cogwheel::timer_wheel& wheel_;
    const options& limits_;
    statistics& counts_;

    cogwheel::timer_token idle_timer_;
    clock::time_point last_activity_{};
    std::uint64_t writes_ = 0; // started + finished: odd while one is outstanding
    std::array<char, 4096> data_;
};

} // namespace echo
