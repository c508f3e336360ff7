// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads replies from the bytes of a Redis connection: RESP2, as Redis and Valkey document it.
// Memory: the bytes that are not read yet, and the values of an incomplete reply; never what a peer only promises.
// Complexity: O(bytes), however they are split.
#pragma once

#include <cogwheel/durable/redis_reply.hpp>

#include <optional>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class resp_reader {
public:
    enum class outcome : std::uint8_t { reply, more, bad };

    /// max_reply: the longest reply in bytes.
    explicit resp_reader(std::size_t max_reply) : max_reply_(max_reply) {}

    /// Takes bytes over, in pieces of any size.
    void feed(std::string_view bytes) noexcept;
    /// Returns the next whole reply. After `bad` (not RESP2, nested more than 7 deep, too long, no memory), the reader
    /// cannot go on.
    outcome next(redis_reply& out) noexcept;
    /// Returns why the outcome was `bad`.
    std::string_view message() const noexcept { return message_; }

private:
    struct element {
        redis_reply value;
        std::size_t children; // of an array: they follow
    };

    std::optional<element> read_element();
    bool completes(element& read);
    void fail(std::string why) noexcept;

    std::string bytes_;
    std::size_t at_ = 0;        // of bytes_: those before are read
    std::size_t searched_ = 0;  // from at_ on: no line ends there
    std::size_t length_ = 0;    // of what is read of the reply
    std::vector<element> open_; // arrays, each an element of the one before
    std::size_t max_reply_;
    bool bad_ = false;
    std::string message_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
