// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A write whose limit counts from the last byte that the peer took. The system takes more of a write only when a good
// part of its own queue, megabytes perhaps, has drained: a peer that reads 100 kB/s makes a write wait for ten seconds,
// and is no dead one.
#pragma once

#include <cogwheel/asio/timeout_after.hpp>

#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/socket_base.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <limits>

#include <sys/ioctl.h>

/// Bytes that the system has and the peer has not: for io_control() of a socket. 0 where the system does not tell.
class bytes_queued {
public:
    int name() const { return TIOCOUTQ; }
    void* data() { return &bytes_; }
    std::size_t get() const { return static_cast<std::size_t>(bytes_); }

private:
    int bytes_ = 0;
};

/// Closes the connection of a peer that takes nothing. Closed in good order, it would leave the system with megabytes
/// that it goes on offering; and a destructor always closes in good order.
template <class Stream>
void reset_connection(Stream& stream) noexcept {
    std::error_code ignored;
    stream.lowest_layer().set_option(asio::socket_base::linger(true, 0), ignored);
    stream.lowest_layer().close(ignored);
}

/// Writes all of `data`. Returns asio::error::timed_out when the peer has taken nothing for `limit`, which is noticed
/// up to a quarter of it late; or the write's error. Then reset_connection() is right. One timer at a time. Lifetime:
/// `stream` and the bytes outlive it.
template <class Stream, cogwheel::any_timer_wheel Wheel>
asio::awaitable<std::error_code> write_steadily(Stream& stream, const Wheel& wheel, asio::const_buffer data,
                                                std::chrono::nanoseconds limit) {
    constexpr auto unknown = std::numeric_limits<std::size_t>::max();
    constexpr int looks = 4;
    const auto interval = limit / looks + std::chrono::nanoseconds{1};
    std::size_t queued = unknown;
    for (int looked = 0; data.size() != 0;) {
        std::error_code ec;
        const auto token = asio::redirect_error(asio::use_awaitable, ec);
        const std::size_t bytes =
            co_await stream.async_write_some(data, cogwheel::timeout_after(wheel, interval, token));
        data += bytes;
        if (bytes != 0) {
            queued = unknown;
            continue;
        }
        auto& socket = stream.lowest_layer();
        if (ec != asio::error::timed_out || !socket.is_open()) co_return ec;

        bytes_queued now;
        socket.io_control(now, ec);
        if (now.get() < queued) { // the first look has nothing to compare with
            queued = now.get();
            looked = 0;
        } else if (++looked == looks) {
            co_return asio::error::timed_out;
        }
    }
    co_return std::error_code{};
}
