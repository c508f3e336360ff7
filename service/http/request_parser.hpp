// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads requests of HTTP/1.1 (RFC 9112) by Node's parser, piece by piece. No I/O, no clock. It stops at the end of
// a head, so that a request may be refused before its body comes, and at the end of a request.
#pragma once

#include "http/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace cogwheeld {

struct request_limits {
    std::size_t head = std::size_t{16} << 10;  ///< bytes of the request line and all fields
    std::size_t body = std::size_t{8} << 20;   ///< bytes
    static constexpr std::size_t fields = 128; ///< with different names: each is compared with those before it
};

class request_parser {
public:
    enum class stage : std::uint8_t {
        idle,     ///< no byte of a request has come
        head,     ///< a part of the head has come
        body,     ///< the head is complete
        complete, ///< the request is complete
        refused,  ///< this is no request, or it breaks a limit: refusal() says which
    };

    explicit request_parser(const request_limits& limits);
    ~request_parser();
    request_parser(request_parser&&) = delete;

    /// Takes bytes up to the end of the head or of the request. Returns how many it took; the others belong to the next
    /// call. Takes nothing when the request is complete or refused.
    std::size_t take(std::string_view bytes);
    /// Begins the next request.
    void next();

    stage where() const noexcept;
    /// Returns 400, 413, 414, 417, 431, 501, 503 (no memory) or 505. Preconditions: where() is refused.
    int refusal() const noexcept;
    /// Whether the client keeps the connection. Preconditions: the head is complete.
    bool keeps_alive() const noexcept;
    /// Whether the client waits for "100 Continue" before it sends its body. Preconditions: the head is complete.
    bool waits_for_continue() const noexcept;
    /// Preconditions: the head is complete; of the body, that the request is complete.
    http_request& request() noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

} // namespace cogwheeld
