// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The way back: no peer holds it up.

#include "connection.hpp"

namespace echo {

asio::awaitable<bool> connection::echo(std::size_t size) {
    const std::error_code ec = co_await writer_.write(asio::buffer(data_, size));
    if (!ec) {
        counts_.echoed(size);
        activity_.touch();
    }
    if (writer_.gave_up()) counts_.kicked(kick_reason::peer_does_not_read, {});
    co_return !ec;
}

void connection::close() { stream_.close(); }

} // namespace echo
