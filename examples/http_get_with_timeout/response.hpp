// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What of a response's header matters here (RFC 9112): the status, and how its body ends. Text in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace http {

class bad_response : public std::runtime_error {
public:
    explicit bad_response(const std::string& what) : std::runtime_error{"bad response: " + what} {}
};

struct response {
    int status = 0;
    std::string reason;
    std::optional<std::uint64_t> length; // without: the body ends with the connection
    bool chunked = false;
};

/// `text` is a whole header, with the empty line. Errors: bad_response.
response parse_head(std::string_view text);

/// The line before a chunk. Errors: bad_response.
std::uint64_t parse_chunk_size(std::string_view line);

} // namespace http
