// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Parts of addresses that are read from text: pure functions.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns the number, or nothing if the text has other characters, or the number is above `most`.
inline std::optional<std::uint64_t> decimal(std::string_view text, std::uint64_t most) {
    std::uint64_t n = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (text.empty() || ec != std::errc() || end != text.data() + text.size() || n > most) return std::nullopt;
    return n;
}

inline std::optional<std::string> percent_decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned value = 0;
        if (text.size() - i < 3) return std::nullopt;
        const char* const last = text.data() + i + 3;
        const auto [end, ec] = std::from_chars(text.data() + i + 1, last, value, 16);
        if (ec != std::errc() || end != last) return std::nullopt;
        out += static_cast<char>(value);
        i += 2;
    }
    return out;
}

/// Reads "host", "host:port" or "[v6]:port".
inline std::optional<std::pair<std::string, std::uint16_t>> host_and_port(std::string_view text, std::uint16_t port) {
    std::string_view host = text;
    std::string_view rest;
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == text.npos) return std::nullopt;
        host = text.substr(1, close - 1);
        rest = text.substr(close + 1);
    } else if (const auto colon = text.find(':'); colon != text.npos) {
        host = text.substr(0, colon);
        rest = text.substr(colon);
    }
    if (host.empty()) return std::nullopt;
    if (!rest.empty()) {
        const auto n = rest[0] == ':' ? decimal(rest.substr(1), 65'535) : std::nullopt;
        if (!n || *n == 0) return std::nullopt;
        port = static_cast<std::uint16_t>(*n);
    }
    return std::pair(std::string(host), port);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
