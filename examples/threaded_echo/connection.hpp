// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client of one thread. A timer in the object bounds its silence: each read pushes it back, which is a store. The
// writer has another one for a peer that takes nothing.
#pragma once

#include "support/steady_write.hpp"

#include <cogwheel/asio/callback_timer.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace threaded {

struct options {
    asio::ip::address address = asio::ip::address_v4::loopback();
    std::uint16_t port = 0; // 0: the system chooses
    unsigned threads = 2;
    std::chrono::nanoseconds idle = std::chrono::seconds{30};
    std::chrono::nanoseconds write_timeout = std::chrono::seconds{10};
    std::chrono::nanoseconds drain = std::chrono::seconds{5};
    std::size_t max_connections = std::numeric_limits<std::size_t>::max(); // of each thread
    bool help = false;
};

/// Of one thread, which alone writes them.
struct counts {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0; // at --max-connections
    std::uint64_t idle = 0;
    std::uint64_t did_not_read = 0;
    std::uint64_t cut = 0;    // at the end of --drain
    std::uint64_t failed = 0; // for want of memory, say
};

class connection {
public:
    connection(asio::ip::tcp::socket socket, const cogwheel::local_timer_wheel& wheel, const options& limits,
               counts& counted)
        : socket_{std::move(socket)},
          idle_{wheel, {this}},
          writer_{socket_, wheel, std::min(limits.write_timeout, limits.idle)},
          limits_{limits},
          counts_{counted} {}

    /// Echoes until the peer has sent its last byte, an error, a limit, drain() or close(). The connection outlives it.
    asio::awaitable<void> serve() {
        std::error_code ec;
        while (!ec && (!draining_ || has_input())) {
            queued_ = 0;
            idle_.schedule(limits_.idle);
            reading_ = true;
            const std::size_t size =
                co_await socket_.async_read_some(asio::buffer(data_), asio::redirect_error(asio::use_awaitable, ec));
            reading_ = false;
            if (!ec)
                ec = co_await writer_.write(asio::buffer(data_, size));
            else if (ec == asio::error::operation_aborted && draining_)
                ec.clear(); // drain() may have ended the read: has_input() decides
        }
        if (writer_.gave_up()) ++counts_.did_not_read;
        close();
    }

    /// Ends serve() when all that has arrived is on its way back.
    void drain() {
        draining_ = true;
        std::error_code ignored;
        if (reading_) socket_.cancel(ignored); // a write goes on
    }

    /// Ends serve().
    void close() {
        std::error_code ignored;
        socket_.close(ignored);
    }

private:
    void end_if_silent() {
        if (!reading_) return; // a write has the writer's limit
        const std::size_t queued = bytes_queued(socket_);
        // What has arrived is not late because it was not read yet, and a peer that takes our bytes slowly is not idle.
        if (has_input() || (queued != 0 && queued != std::exchange(queued_, queued))) {
            idle_.schedule(limits_.idle);
            return;
        }
        ++counts_.idle;
        close();
    }

    bool has_input() {
        std::error_code closed;
        return socket_.available(closed) != 0 && !closed;
    }

    asio::ip::tcp::socket socket_;
    cogwheel::callback_timer<cogwheel::member_call<&connection::end_if_silent>, cogwheel::local_timer_wheel> idle_;
    steady_writer<asio::ip::tcp::socket, cogwheel::local_timer_wheel> writer_;
    const options& limits_;
    counts& counts_;
    std::size_t queued_ = 0; // when the client was last found silent; 0: it has spoken since
    bool reading_ = false;
    bool draining_ = false;
    std::array<char, 4096> data_;
};

} // namespace threaded
