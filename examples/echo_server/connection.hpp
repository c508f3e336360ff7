// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client: a coroutine that echoes, on a stream that closes itself.
//
// - The stream is closed when it has been idle for as long as the connection may be. Each completed read or write is
//   activity, which is a store; so are bytes that leave the system's queue, for a slow peer is no idle one.
// - A write lasts as long as the peer takes some of it now and then. A peer that does not read cannot hold the
//   connection.
//
// Everything here runs on the connection's executor: a strand of its own where the server has several threads.
#pragma once

#include "activity_window.hpp"
#include "options.hpp"
#include "statistics.hpp"
#include "support/steady_write.hpp"

#include <cogwheel/net/idle_stream.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <array>
#include <memory>

namespace echo {

class connection {
public:
    connection(asio::ip::tcp::socket socket, cogwheel::timer_wheel& wheel, const options& limits, statistics& counts)
        : stream_{wheel, {.all = limits.idle}, std::move(socket)},
          writer_{stream_, wheel, limits.write_timeout},
          limits_{limits},
          counts_{counts} {
        stream_.observe_output();
    }

    asio::any_io_executor get_executor() { return stream_.get_executor(); }

    /// Echoes until the peer has sent its last byte, an error, a limit, or close(). The socket is closed afterwards.
    /// `self` is this connection: the coroutine keeps it alive.
    asio::awaitable<void> serve(std::shared_ptr<connection> self);

    /// Ends serve(). Call it on get_executor().
    void close();

private:
    asio::awaitable<bool> echo(std::size_t size);

    cogwheel::idle_stream<asio::ip::tcp::socket> stream_;
    steady_writer<cogwheel::idle_stream<asio::ip::tcp::socket>> writer_;
    const options& limits_;
    statistics& counts_;
    activity_window::member activity_{counts_.activity};
    std::array<char, 4096> data_;
};

} // namespace echo
