// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A request and an answer of HTTP/1.1 (RFC 9110), as the rest of the service sees them.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/ip/address.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cogwheeld {

struct http_request {
    std::string method;                                        ///< such as "GET"
    std::string target;                                        ///< as it was sent, such as "/v1/tasks?state=dead"
    std::vector<std::pair<std::string, std::string>> fields{}; ///< names in lower case; values of one name are joined
    std::string body{};
    asio::ip::address peer{};

    /// Returns the target up to the question mark.
    std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
    /// Returns the target after the question mark, or an empty text.
    std::string_view query() const;
    /// Returns the value of a field, or an empty text. `name`: in lower case.
    std::string_view field(std::string_view name) const;
};

/// The next piece of an answer without end; nullptr: it ends.
using http_piece = std::shared_ptr<const std::string>;

struct http_response {
    int status = 200;
    std::string content_type = "application/json"; ///< empty: not sent
    std::string body{};
    std::vector<std::pair<std::string_view, std::string>> fields{}; ///< further ones, such as {"Retry-After", "1"}
    /// Sends pieces after `body` until it answers nullptr; then the connection is closed. It belongs to one connection,
    /// which destroys it when the client leaves. Empty: the body is all.
    std::function<asio::awaitable<http_piece>()> pieces{};
    bool close = false; ///< the connection, after this answer
};

/// Returns "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7).
std::string http_date(std::chrono::system_clock::time_point);

/// Returns the words for a status, such as "Not Found".
std::string_view reason(int status) noexcept;

} // namespace cogwheeld
