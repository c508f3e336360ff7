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
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

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
    /// The parameter is this connection: the coroutine keeps it alive.
    asio::awaitable<void> serve(std::shared_ptr<connection>) {
        stream_.close_when_idle([this](const cogwheel::idle_event& event) {
            counts_.kicked(kick_reason::idle, event.idle_for - limits_.idle);
        });
        for (std::error_code ec; !ec;) {
            const std::size_t size =
                co_await stream_.async_read_some(asio::buffer(data_), asio::redirect_error(asio::use_awaitable, ec));
            if (!ec) ec = co_await writer_.write(asio::buffer(data_, size));
            if (!ec) {
                counts_.echoed(size);
                activity_.touch();
            }
        }
        if (writer_.gave_up()) counts_.kicked(kick_reason::peer_does_not_read, {});
        close();
    }

    /// Ends serve(). Call it on get_executor().
    void close() { stream_.close(); }

private:
    cogwheel::idle_stream<asio::ip::tcp::socket> stream_;
    steady_writer<cogwheel::idle_stream<asio::ip::tcp::socket>> writer_;
    const options& limits_;
    statistics& counts_;
    activity_window::member activity_{counts_.activity};
    std::array<char, 4096> data_;
};

} // namespace echo
