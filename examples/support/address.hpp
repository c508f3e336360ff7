// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include "support/command_line.hpp"

#include <asio/ip/address.hpp>

#include <string>
#include <system_error>

namespace command_line {

/// The value of the present option. Errors: usage_error.
inline asio::ip::address read_address(reader& line) {
    const std::string text{line.value()};
    std::error_code ec;
    auto result = asio::ip::make_address(text, ec);
    if (ec) throw usage_error{fmt::format("bad address '{}' for {}: give an IPv4 or IPv6 address", text, line.name())};
    return result;
}

} // namespace command_line
