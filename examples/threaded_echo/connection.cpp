// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "connection.hpp"

#include "support/steady_write.hpp"

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <utility>

namespace threaded {

asio::awaitable<void> connection::serve() {
    stream_.close_when_idle([this](const cogwheel::idle_event&) { ++counts_.idle; });
    while (!draining_ || has_input()) {
        const std::size_t size = co_await read();
        if (size == 0 && draining_) continue; // drain() may have ended the read: has_input() decides
        if (size == 0 || !co_await write(size)) break;
    }
    close();
}

/// Returns 0 at the end, after an error, and when drain() ends it. A read that drain() ends has taken no bytes.
asio::awaitable<std::size_t> connection::read() {
    std::error_code ec;
    reading_ = true;
    const std::size_t size =
        co_await stream_.async_read_some(asio::buffer(data_), asio::redirect_error(asio::use_awaitable, ec));
    reading_ = false;
    if (ec && ec != asio::error::operation_aborted) close(); // then there is no input any more
    co_return ec ? 0 : size;
}

asio::awaitable<bool> connection::write(std::size_t size) {
    const std::error_code ec =
        co_await write_steadily(stream_, wheel_, asio::buffer(data_, size), limits_.write_timeout);
    // An idle stream says timed_out, too, but is closed by then.
    if (ec == asio::error::timed_out && stream_.lowest_layer().is_open()) {
        ++counts_.did_not_read;
        reset_connection(stream_);
    }
    co_return !ec;
}

bool connection::has_input() {
    std::error_code closed;
    return stream_.lowest_layer().available(closed) != 0 && !closed;
}

void connection::drain() {
    draining_ = true;
    std::error_code ignored;
    if (reading_) stream_.lowest_layer().cancel(ignored); // a write goes on
}

} // namespace threaded
