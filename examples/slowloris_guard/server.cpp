// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "server.hpp"

#include "support/accept_loop.hpp"
#include "support/listen.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <fmt/format.h>

namespace guard {

server::server(asio::io_context& io, std::uint16_t port, const demands& demanded)
    : demands_{demanded},
      wheel_{io},
      acceptor_{listen_on(io.get_executor(), {asio::ip::address_v4::loopback(), port})} {
    asio::co_spawn(io, accept(), rethrow);
}

asio::awaitable<void> server::accept() {
    return accept_loop(acceptor_, wheel_, "slowloris_guard", [this](asio::ip::tcp::socket socket) {
        const auto client = std::make_shared<connection>(std::move(socket), wheel_, demands_, counts_);
        asio::co_spawn(acceptor_.get_executor(), client->serve(), [this, client](const std::exception_ptr& failure) {
            counts_.failed += failure != nullptr ? 1 : 0;
            connections_.erase(client);
        });
        connections_.insert(client);
        return true;
    });
}

void server::stop() {
    std::error_code ignored;
    acceptor_.close(ignored);
    wheel_.stop();
    for (const auto& client : connections_) client->close();
}

std::string server::summary() const {
    const auto& [served, late, too_large, gone] = counts_.connections;
    const auto timers = wheel_.stats();
    return fmt::format("connections  {} served, {} late, {} too large, {} gone, {} failed\n"
                       "pieces       {}\n"
                       "wheel        {} timers, {} fired, {} wake-ups\n",
                       served, late, too_large, gone, counts_.failed, counts_.pieces, timers.scheduled, timers.fired,
                       timers.wakeups);
}

} // namespace guard
