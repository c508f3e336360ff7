// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the command line of rpc_server can say.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rpc {

struct options {
    std::uint16_t port = 0;
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds idle = std::chrono::seconds{30};
    std::chrono::nanoseconds frame{0}; // 0: as idle
    std::chrono::nanoseconds write_timeout = std::chrono::seconds{10};
    std::chrono::nanoseconds grace = std::chrono::seconds{5};
    std::size_t connections = 10'000;
    std::size_t in_flight = 1'000; // of a client
    std::size_t backlog = 256 << 10;
    std::size_t all_in_flight = 100'000;
    std::size_t bytes = 64 << 20;
    std::uint64_t seed = 1;
    bool help = false;
};

extern const std::string_view usage;

/// Errors: command_line::usage_error, one line.
options parse_options(int argc, char** argv);

} // namespace rpc
