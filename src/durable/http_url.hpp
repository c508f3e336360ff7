// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Takes a URL apart. It is stricter than libcurl, so that both see the same host: no user, no percent sign or other
// byte in the host that one of the two might read in another way.
#pragma once

#include <cogwheel/durable/callback_error.hpp>

#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct http_url {
    bool secure = false;
    std::string_view host{}; // without brackets
    std::string_view port{}; // digits; empty: that of the scheme

    /// Parses the text. The views point into it. Returns bad_url, bad_scheme or success.
    error_code parse(std::string_view text) noexcept;

    /// "http://name:port" in lower case, with the port: names the receiver in tables and messages.
    std::string origin() const;
};

/// Returns the origin of an encoded http_callback, without the rest of it; empty if these bytes are none.
/// Complexity: O(size of the URL).
std::string origin_of_encoded(std::string_view bytes);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
