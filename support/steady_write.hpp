// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Writes whose limit counts from the last byte that the peer took. The system takes more of a write only when a good
// part of its own queue, megabytes perhaps, has drained: a peer that reads 100 kB/s makes a write wait for ten seconds,
// and is no dead one.
#pragma once

#include <cogwheel/asio/callback_timer.hpp>

#include <asio/awaitable.hpp>
#include <asio/bind_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/socket_base.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <limits>
#include <new>

#include <sys/ioctl.h>

/// Bytes that the system has and the peer has not. 0 where the system does not tell.
template <class Socket>
std::size_t bytes_queued(Socket& socket) {
    struct {
        int name() const { return TIOCOUTQ; }
        void* data() { return &bytes; }
        int bytes = 0;
    } question;
    std::error_code ignored;
    socket.io_control(question, ignored);
    return static_cast<std::size_t>(question.bytes);
}

/// Closes the connection of a peer that takes nothing. Closed in good order, it would leave the system with megabytes
/// that it goes on offering; and a destructor always closes in good order.
template <class Stream>
void reset_connection(Stream& stream) noexcept {
    std::error_code ignored;
    stream.lowest_layer().set_option(asio::socket_base::linger(true, 0), ignored);
    stream.lowest_layer().close(ignored);
}

/// Writes to one stream, with one timer. The timer looks four times a limit how much the peer has taken. When that was
/// nothing for `limit`, which is noticed up to a quarter of it late, it resets the connection: so reads end, too.
/// For one thread, or the strand of the stream. Lifetime: `stream` outlives it.
template <class Stream, cogwheel::any_timer_wheel Wheel = cogwheel::timer_wheel>
class steady_writer {
public:
    steady_writer(Stream& stream, const Wheel& wheel, std::chrono::nanoseconds limit)
        : stream_{stream},
          interval_{limit / looks + std::chrono::nanoseconds{1}},
          timer_{wheel, asio::bind_executor(stream.get_executor(), looking{this})} {}
    steady_writer(const steady_writer&) = delete;
    steady_writer& operator=(const steady_writer&) = delete;

    /// Writes all of `data`. Returns asio::error::timed_out if gave_up(), or the write's error. One write at a time.
    /// Lifetime: the bytes, and the writer, outlive it.
    asio::awaitable<std::error_code> write(asio::const_buffer data) {
        std::error_code ec;
        while (data.size() != 0 && !ec) {
            queued_ = unknown;
            looked_ = 0;
            if (!timer_.schedule(interval_)) co_return asio::error::operation_aborted; // the wheel has stopped
            data += co_await stream_.async_write_some(data, asio::redirect_error(asio::use_awaitable, ec));
        }
        timer_.cancel();
        co_return gave_up_ ? asio::error::timed_out : ec;
    }

    /// Whether it has reset the connection.
    bool gave_up() const { return gave_up_; }

private:
    static constexpr auto unknown = std::numeric_limits<std::size_t>::max();
    static constexpr int looks = 4;

    void look() noexcept {
        const std::size_t queued = bytes_queued(stream_.lowest_layer());
        looked_ = queued < queued_ ? 0 : looked_ + 1; // the first look has nothing to compare with
        queued_ = queued;
        try {
            if (looked_ != looks && timer_.schedule(interval_)) return;
        } catch (const std::bad_alloc&) { // the end of one connection, and not of the program
        }
        gave_up_ = true;
        reset_connection(stream_);
    }

    using looking = cogwheel::member_call<&steady_writer::look>;

    Stream& stream_;
    const std::chrono::nanoseconds interval_;
    cogwheel::callback_timer<asio::executor_binder<looking, typename Stream::executor_type>, Wheel> timer_;
    std::size_t queued_ = unknown; // at the last look
    int looked_ = 0;               // in vain
    bool gave_up_ = false;
};
