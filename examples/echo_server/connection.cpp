// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The way back: no peer holds it up.

#include "connection.hpp"

#include "support/steady_write.hpp"

namespace echo {

asio::awaitable<bool> connection::echo(std::size_t size) {
    const std::error_code ec =
        co_await write_steadily(stream_, wheel_, asio::buffer(data_, size), limits_.write_timeout);
    if (!ec) {
        counts_.echoed(size);
        activity_.touch();
    }
    // An idle stream says timed_out, too, but is closed by then.
    if (ec == asio::error::timed_out && stream_.lowest_layer().is_open()) {
        counts_.kicked(kick_reason::peer_does_not_read, {});
        reset_connection(stream_);
    }
    co_return !ec;
}

void connection::close() { stream_.close(); }

} // namespace echo
