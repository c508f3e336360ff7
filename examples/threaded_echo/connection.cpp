// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "connection.hpp"

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <utility>

namespace threaded {

asio::awaitable<void> connection::serve() {
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

void connection::end_if_silent() {
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

bool connection::has_input() {
    std::error_code closed;
    return socket_.available(closed) != 0 && !closed;
}

void connection::drain() {
    draining_ = true;
    std::error_code ignored;
    if (reading_) socket_.cancel(ignored); // a write goes on
}

void connection::close() {
    std::error_code ignored;
    socket_.close(ignored);
}

} // namespace threaded
