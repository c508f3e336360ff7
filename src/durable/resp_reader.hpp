// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads replies from the bytes of a Redis connection, with hiredis' parser.
#pragma once

#include <cogwheel/durable/redis_reply.hpp>

#include <memory>
#include <string_view>

struct redisReader; // of hiredis

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

class resp_reader {
public:
    enum class outcome : std::uint8_t { reply, more, bad };

    /// max_reply: the longest reply in bytes. Errors: std::bad_alloc.
    explicit resp_reader(std::size_t max_reply);

    /// Takes bytes over, in pieces of any size.
    void feed(std::string_view bytes);
    /// Returns the next whole reply. After `bad` (not RESP2, nested more than 7 deep, too long, no memory), the reader
    /// cannot go on.
    outcome next(redis_reply& out);
    /// Returns why the outcome was `bad`.
    std::string_view message() const noexcept { return message_; }

private:
    struct deleter {
        void operator()(redisReader*) const noexcept;
    };

    std::unique_ptr<redisReader, deleter> reader_;
    std::size_t max_reply_;
    std::size_t fed_ = 0; // since the end of the last whole reply
    bool bad_ = false;
    std::string message_;
};

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
