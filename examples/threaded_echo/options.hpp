// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The command line of threaded_echo.
#pragma once

#include <asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace threaded {

struct options {
    asio::ip::address address = asio::ip::address_v4::loopback();
    std::uint16_t port = 0; // 0: the system chooses
    unsigned threads = 2;
    std::chrono::nanoseconds idle = std::chrono::seconds{30};
    std::chrono::nanoseconds write_timeout = std::chrono::seconds{10};
    std::chrono::nanoseconds drain = std::chrono::seconds{5};
    std::size_t max_connections = std::numeric_limits<std::size_t>::max(); // of each thread
    bool help = false;
};

extern const std::string_view usage;

/// Errors: command_line::usage_error, one line.
options parse_options(int argc, char** argv);

} // namespace threaded
