// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The way back: each write has a limit of its own.

#include "connection.hpp"

#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

namespace echo {

asio::awaitable<bool> connection::echo(std::size_t size) {
    std::error_code ec;
    co_await asio::async_write(
        stream_, asio::buffer(data_, size),
        cogwheel::timeout_after(wheel_, limits_.write_timeout, asio::redirect_error(asio::use_awaitable, ec)));
    if (!ec) counts_.echoed(size);
    // An idle stream says timed_out, too, but is closed by then.
    if (ec == asio::error::timed_out && stream_.lowest_layer().is_open())
        counts_.kicked(kick_reason::peer_does_not_read, {});
    co_return !ec;
}

void connection::close() { stream_.close(); }

} // namespace echo
