// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The protocol of rpc_client and rpc_server: frames on a stream that knows when it has gone quiet. Any number of requests may be
// under way, answers come in any order.
//
//     4 bytes length of what follows | 8 bytes id | 1 byte kind | body      (big endian)
#pragma once

#include <cogwheel/net/idle_stream.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rpc {

using asio::ip::tcp;

enum class kind : unsigned char { request, response, ping };

struct frame {
    kind what{};
    std::uint64_t id = 0;
    std::string body;
};

/// For one thread or strand. Held by shared_ptr: what is being written keeps it.
class channel : public std::enable_shared_from_this<channel> {
public:
    static constexpr std::size_t longest_body = 1 << 20;

    channel(const cogwheel::timer_wheel& wheel, const cogwheel::idle_limits& limits, tcp::socket socket)
        : stream_{wheel, limits, std::move(socket)} {}

    cogwheel::idle_stream<tcp::socket>& stream() { return stream_; }

    /// `written` is told the id of each frame that the system has taken.
    void on_written(std::function<void(std::uint64_t id)> written) { written_ = std::move(written); }

    /// Queues a frame; frames that are waiting go out together.
    void send(kind what, std::uint64_t id, std::string_view body) {
        put(body.size() + 9, 4);
        put(id, 8);
        put(static_cast<std::uint64_t>(what), 1);
        waiting_ += body;
        waiting_ids_.push_back(id);
        if (writing_.empty()) write();
    }

    std::size_t unsent() const { return waiting_.size() + writing_.size(); }

    /// The next frame. Errors: std::system_error; asio::error::message_size for one that is none.
    asio::awaitable<frame> receive() {
        std::array<unsigned char, 13> head;
        co_await asio::async_read(stream_, asio::buffer(head), asio::use_awaitable);
        const auto number = [&](std::size_t from, std::size_t bytes) {
            std::uint64_t n = 0;
            for (std::size_t i = from; i < from + bytes; ++i) n = n << 8 | head[i];
            return n;
        };
        const std::uint64_t length = number(0, 4);
        if (length < 9 || length > 9 + longest_body || head[12] > static_cast<unsigned char>(kind::ping))
            throw std::system_error(asio::error::message_size);
        frame f{static_cast<kind>(head[12]), number(4, 8), std::string(length - 9, '\0')};
        co_await asio::async_read(stream_, asio::buffer(f.body), asio::use_awaitable);
        co_return f;
    }

    void close() { stream_.close(); }

private:
    void put(std::uint64_t n, int bytes) {
        while (bytes-- > 0) waiting_ += static_cast<char>(n >> (8 * bytes));
    }

    void write() {
        writing_.swap(waiting_);
        writing_ids_.swap(waiting_ids_);
        asio::async_write(stream_, asio::buffer(writing_),
                          [self = shared_from_this()](std::error_code ec, std::size_t) {
                              self->writing_.clear();
                              const auto ids = std::exchange(self->writing_ids_, {});
                              if (ec) return self->close(); // who reads is told
                              if (self->written_)
                                  for (const std::uint64_t id : ids) self->written_(id);
                              if (!self->waiting_.empty()) self->write();
                          });
    }

    cogwheel::idle_stream<tcp::socket> stream_;
    std::string waiting_, writing_;
    std::vector<std::uint64_t> waiting_ids_, writing_ids_;
    std::function<void(std::uint64_t)> written_;
};

} // namespace rpc
