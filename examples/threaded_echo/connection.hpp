// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client of one thread. The stream closes itself when it is idle; a write ends when the peer takes nothing of it.
#pragma once

#include "options.hpp"

#include <cogwheel/net/idle_stream.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <array>
#include <cstdint>

namespace threaded {

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
        : stream_{wheel, {.all = limits.idle}, std::move(socket)}, wheel_{wheel}, limits_{limits}, counts_{counted} {
        stream_.observe_output();
    }

    /// Echoes until the peer has sent its last byte, an error, a limit, drain() or close(). The connection outlives it.
    asio::awaitable<void> serve();

    /// Ends serve() when all that has arrived is on its way back.
    void drain();

    /// Ends serve().
    void close() { stream_.close(); }

private:
    asio::awaitable<std::size_t> read();
    asio::awaitable<bool> write(std::size_t size);
    bool has_input();

    cogwheel::idle_stream<asio::ip::tcp::socket, cogwheel::local_timer_wheel> stream_;
    const cogwheel::local_timer_wheel& wheel_;
    const options& limits_;
    counts& counts_;
    bool reading_ = false;
    bool draining_ = false;
    std::array<char, 4096> data_;
};

} // namespace threaded
