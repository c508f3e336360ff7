// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What GET /metrics shows: the wheel, and the counts of the server itself. The functions run on control_, while
// connections run on other threads: each of them reads an atomic, or takes the lock.

#include "server.hpp"

#include <asio/ip/address_v4.hpp>

namespace echo {

void server::offer_metrics(std::uint16_t port) {
    metrics_.add("echo", wheel_);
    metrics_.counter("echo_connections_accepted_total", "Connections that the server accepted.",
                     [this] { return static_cast<double>(counts_.accepted_so_far()); });
    metrics_.gauge("echo_connections", "Connections that are open.",
                   [this] { return static_cast<double>(connections()); });
    metrics_.counter("echo_bytes_total", "Bytes that the server sent back.",
                     [this] { return static_cast<double>(counts_.echoed_bytes()); });
    const auto kicks = [this](kick_reason reason, const char* name) {
        metrics_.counter("echo_kicks_total", "Connections that the server closed, by reason.",
                         [this, reason] { return static_cast<double>(counts_.kicks(reason)); }, {{"reason", name}});
    };
    kicks(kick_reason::idle, "idle");
    kicks(kick_reason::peer_does_not_read, "peer_does_not_read");

    metrics_server_.emplace(control_, wheel_, metrics_, asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), port},
                            "echo_server");
}

std::string server::metrics_endpoint() const { return metrics_server_ ? metrics_server_->endpoint() : std::string{}; }

} // namespace echo
