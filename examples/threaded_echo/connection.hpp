// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client of one thread. A timer in the object bounds its silence: each read pushes it back, which is a store. The
// writer has another one for a peer that takes nothing.
#pragma once

#include "options.hpp"
#include "support/steady_write.hpp"

#include <cogwheel/asio/callback_timer.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <algorithm>
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
        : socket_{std::move(socket)},
          idle_{wheel, {this}},
          writer_{socket_, wheel, std::min(limits.write_timeout, limits.idle)},
          limits_{limits},
          counts_{counted} {}

    /// Echoes until the peer has sent its last byte, an error, a limit, drain() or close(). The connection outlives it.
    asio::awaitable<void> serve();

    /// Ends serve() when all that has arrived is on its way back.
    void drain();

    /// Ends serve().
    void close();

private:
    void end_if_silent();
    bool has_input();

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
