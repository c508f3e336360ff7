// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the command line of echo_server can say.
#pragma once

#include <asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace echo {

struct options {
    asio::ip::address address = asio::ip::address_v4::loopback();
    std::uint16_t port = 0; // 0: the system chooses
    std::chrono::nanoseconds idle = std::chrono::seconds{30};
    std::chrono::nanoseconds write_timeout = std::chrono::seconds{10};
    std::size_t max_connections = std::numeric_limits<std::size_t>::max();
    std::chrono::nanoseconds tick = std::chrono::milliseconds{10};
    std::size_t slots = 512;
    unsigned threads = 1;
    std::optional<std::uint16_t> metrics_port;      // 0: the system chooses
    std::optional<asio::ip::tcp::endpoint> monitor; // port 0: the system chooses
    std::chrono::nanoseconds stats{0};              // 0: no live report, and no timers for it
    std::chrono::nanoseconds seconds{0};            // 0: until a signal
    bool help = false;
};

} // namespace echo
