// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What GET /metrics and the page show: the wheel, and the counts of the server itself. The functions run on control_,
// while connections run on other threads: each of them reads an atomic, or takes the lock.

#include "server.hpp"

#include <asio/ip/address_v4.hpp>

namespace echo {

void server::offer_metrics() {
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

    page_.add("echo", wheel_);
    const auto offer = [this](auto& endpoint, watch_sources sources, const asio::ip::tcp::endpoint& at) {
        endpoint.emplace(control_, wheel_, sources, at, "echo_server");
    };
    if (const auto port = options_.metrics_port)
        offer(metrics_server_, {.metrics = &metrics_}, {asio::ip::address_v4::loopback(), *port});
    if (options_.monitor) offer(monitor_, {.metrics = &metrics_, .page = &page_}, *options_.monitor);
}

} // namespace echo
