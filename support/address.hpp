// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include "support/command_line.hpp"

#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace command_line {

inline bool is_address(std::string_view text) {
    std::error_code ec;
    asio::ip::make_address(std::string{text}, ec);
    return !ec;
}

/// The value of the present option. Errors: usage_error.
inline asio::ip::address read_address(reader& line) {
    const std::string text{line.value()};
    std::error_code ec;
    auto result = asio::ip::make_address(text, ec);
    if (ec) throw usage_error{fmt::format("bad address '{}' for {}: give an IPv4 or IPv6 address", text, line.name())};
    return result;
}

/// True for an address, with or without a port, and for localhost: a browser sends it in the field Host if its user has
/// not followed a name of someone else's.
inline bool names_address(std::string_view host) {
    if (host.starts_with('[')) return host.find(']') != host.npos && is_address(host.substr(1, host.find(']') - 1));
    host = host.substr(0, host.rfind(':'));
    constexpr std::string_view local = "localhost"; // in any case: RFC 3986, 3.2.2
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(host.begin(), host.end(), local.begin(), local.end(),
                      [&](char a, char b) { return lower(a) == b; }) ||
           is_address(host);
}

/// ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:0, that belongs to `name`. Errors: usage_error.
inline asio::ip::tcp::endpoint parse_endpoint(std::string_view text, std::string_view name) {
    const std::size_t colon = text.rfind(':');
    std::string host{text.substr(0, colon)};
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    const char* const digits = text.data() + (colon == text.npos ? text.size() : colon + 1);
    const auto [end, failure] = std::from_chars(digits, text.data() + text.size(), port);
    std::error_code ec;
    const auto address = asio::ip::make_address(host, ec);
    if (ec || failure != std::errc{} || end != text.data() + text.size())
        throw usage_error{fmt::format("bad value '{}' for {}: give ADDRESS:PORT, such as 127.0.0.1:8080", text, name)};
    return {address, port};
}

/// The value of the present option. Errors: usage_error.
inline asio::ip::tcp::endpoint read_endpoint(reader& line) { return parse_endpoint(line.value(), line.name()); }

/// The same, but only a loopback address. Errors: usage_error.
inline asio::ip::tcp::endpoint read_loopback_endpoint(reader& line) {
    auto endpoint = read_endpoint(line);
    if (!endpoint.address().is_loopback())
        throw usage_error{fmt::format("bad address '{}' for {}: it asks for no password, so give a loopback address "
                                      "such as 127.0.0.1, and put a proxy in front",
                                      endpoint.address().to_string(), line.name())};
    return endpoint;
}

} // namespace command_line
