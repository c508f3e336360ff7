// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the command line of echo_load can say, and the timetable that follows from it.
#pragma once

#include <asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace load {

struct options {
    asio::ip::address address = asio::ip::address_v4::loopback();
    std::uint16_t port = 0;
    std::size_t connections = 2000;
    std::chrono::nanoseconds idle = std::chrono::seconds{2};
    std::chrono::nanoseconds chat = std::chrono::milliseconds{500};
    std::chrono::nanoseconds seconds{0}; // 0: as long as the timetable needs
    int server_pid = 0;                  // 0: the server's CPU time is not measured
    bool help = false;

    /// The silent connections fall silent one after the other within this time from the start.
    std::chrono::nanoseconds silence_spread = std::chrono::seconds{3};
};

extern const std::string_view usage;

/// Errors: command_line::usage_error, one line.
options parse_options(int argc, char** argv);

} // namespace load
