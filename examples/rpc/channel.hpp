// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The protocol: frames on a stream that knows when it has gone quiet. Any number of
// requests may be under way, answers come in any order.
//
//     4 bytes length of what follows | 8 bytes id | 1 byte kind | body      (big endian)
//
// What a peer announces costs nothing: memory follows the bytes that have arrived. A frame that has begun has to be
// complete in time, so that it is no use to send it byte by byte; a peer that takes none of what is sent to it is
// dropped.
#pragma once

#include "support/steady_write.hpp"

#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/resilience/deadline.hpp>

#include <asio/co_spawn.hpp>
#include <asio/ip/tcp.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rpc {

using asio::ip::tcp;

enum class kind : unsigned char { request, response, ping };

struct frame {
    kind what{};
    std::uint64_t id = 0;
    std::string body;
};

struct channel_limits {
    cogwheel::idle_timeouts idle;
    std::chrono::nanoseconds frame = std::chrono::seconds{10}; // from its first byte to its last one
    std::chrono::nanoseconds write = std::chrono::seconds{10}; // in which the peer takes nothing of what is sent
};

/// For one thread or strand. Held by shared_ptr: what is being written keeps it.
class channel : public std::enable_shared_from_this<channel> {
public:
    static constexpr std::size_t longest_body = 1 << 20, head_size = 13, piece_size = 4096;

    /// What came of a write, and the ids of its frames; pings have none.
    using written_handler = std::function<void(std::error_code, const std::vector<std::uint64_t>& ids)>;

    channel(const cogwheel::timer_wheel& wheel, const channel_limits& limits, tcp::socket socket)
        : stream_{wheel, limits.idle, std::move(socket)},
          writer_{stream_, wheel, limits.write},
          wheel_{wheel},
          limits_{limits} {}

    cogwheel::idle_stream<tcp::socket>& stream() { return stream_; }
    bool is_open() { return stream_.lowest_layer().is_open(); }

    /// Whether the peer took nothing of what was sent.
    bool gave_up() const { return writer_.gave_up(); }

    /// `written` is told of each write. After a failed one, the channel is closed.
    void on_written(written_handler written) { written_ = std::move(written); }

    /// Queues a frame; frames that are waiting go out together.
    void send(kind what, std::uint64_t id, std::string_view body) {
        put(body.size() + 9, 4);
        put(id, 8);
        put(static_cast<std::uint64_t>(what), 1);
        waiting_ += body;
        if (what != kind::ping) waiting_ids_.push_back(id);
        if (std::exchange(is_writing_, true)) return;
        asio::co_spawn(stream_.get_executor(), write(), [self = shared_from_this()](const std::exception_ptr& failure) {
            if (failure != nullptr) self->close(); // who reads is told
        });
    }

    /// Bytes that the system has not taken yet.
    std::size_t unsent() const { return waiting_.size() + writing_.size(); }

    /// Bytes that have arrived and are no frame yet.
    std::size_t arrived() const { return arrived_.size(); }

    bool frame_is_complete() const { return arrived_.size() >= head_size && arrived_.size() >= 4 + number(0, 4); }

    /// When the frame that has begun has to be complete. None: no frame has begun.
    cogwheel::deadline frame_due() const { return frame_due_; }

    /// The time in which we did not want to read is not the peer's.
    void restart_frame() {
        if (frame_due_) frame_due_ = cogwheel::deadline::after(limits_.frame);
    }

    /// The next one of what has arrived. Errors: std::system_error, asio::error::message_size for one that is none.
    std::optional<frame> next_frame() {
        if (arrived_.size() < head_size) return std::nullopt;
        const std::uint64_t length = number(0, 4), what = number(12, 1);
        if (length < 9 || length > 9 + longest_body || what > static_cast<std::uint64_t>(kind::ping))
            throw std::system_error(asio::error::message_size);
        const std::size_t size = 4 + length;
        if (arrived_.size() < size) return std::nullopt;
        frame f{static_cast<kind>(what), number(4, 8), arrived_.substr(head_size, size - head_size)};
        arrived_.erase(0, size);
        if (arrived_.capacity() > 2 * piece_size) arrived_.shrink_to_fit();
        frame_due_ = {};
        return f;
    }

    /// Waits for more bytes. Errors: std::system_error; asio::error::timed_out for a frame that takes too long, too.
    asio::awaitable<void> read_more() {
        if (!arrived_.empty() && !frame_due_) frame_due_ = cogwheel::deadline::after(limits_.frame);
        std::array<char, piece_size> piece;
        const std::size_t bytes =
            frame_due_ ? co_await stream_.async_read_some(
                             asio::buffer(piece), cogwheel::timeout(wheel_, frame_due_.expiry(), asio::use_awaitable))
                       : co_await stream_.async_read_some(asio::buffer(piece), asio::use_awaitable);
        arrived_.append(piece.data(), bytes);
    }

    /// The next frame. Errors: as the two.
    asio::awaitable<frame> receive() {
        for (;;) {
            if (auto f = next_frame()) co_return std::move(*f);
            co_await read_more();
        }
    }

    void close() { stream_.close(); }

private:
    void put(std::uint64_t n, int bytes) {
        while (bytes-- > 0) waiting_ += static_cast<char>(n >> (8 * bytes));
    }

    std::uint64_t number(std::size_t from, std::size_t bytes) const {
        std::uint64_t n = 0;
        for (std::size_t i = from; i < from + bytes; ++i) n = n << 8 | static_cast<unsigned char>(arrived_[i]);
        return n;
    }

    asio::awaitable<void> write() {
        while (!waiting_.empty() && is_open()) {
            writing_.swap(waiting_);
            const auto ids = std::exchange(waiting_ids_, {});
            const std::error_code ec = co_await writer_.write(asio::buffer(writing_));
            writing_.clear();
            if (writing_.capacity() > 4 * piece_size) writing_.shrink_to_fit();
            if (ec) close(); // who reads is told
            if (written_) written_(ec, ids);
        }
        is_writing_ = false;
    }

    cogwheel::idle_stream<tcp::socket> stream_;
    steady_writer<cogwheel::idle_stream<tcp::socket>> writer_;
    const cogwheel::timer_wheel& wheel_;
    const channel_limits limits_;
    std::string arrived_;
    cogwheel::deadline frame_due_;
    bool is_writing_ = false;
    std::string waiting_, writing_;
    std::vector<std::uint64_t> waiting_ids_;
    written_handler written_;
};

} // namespace rpc
