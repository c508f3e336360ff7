// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "server.hpp"

#include "support/listen.hpp"
#include "support/output.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <utility>

namespace guard {

server::server(asio::io_context& io, std::uint16_t port, const demands& demanded)
    : demands_{demanded},
      wheel_{io},
      acceptor_{listen_on(io.get_executor(), {asio::ip::address_v4::loopback(), port})} {
    asio::co_spawn(io, accept(), asio::detached);
}

asio::awaitable<void> server::accept() {
    bool complained = false;
    while (acceptor_.is_open()) {
        std::error_code ec;
        auto socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (!acceptor_.is_open()) co_return;
        if (ec) { // out of descriptors, or the client has given up: the one takes a while, the other does not mind it
            if (!std::exchange(complained, true))
                output::complain("slowloris_guard: cannot accept: {}; trying again every 100 ms\n", ec.message());
            co_await wheel_.async_wait(std::chrono::milliseconds{100}, asio::redirect_error(asio::use_awaitable, ec));
            continue;
        }
        auto client = std::make_shared<connection>(std::move(socket), wheel_, demands_, counts_);
        connections_.insert(client);
        asio::co_spawn(acceptor_.get_executor(), client->serve(),
                       [this, client](const std::exception_ptr&) { connections_.erase(client); });
    }
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
    return fmt::format("connections  {} served, {} late, {} too large, {} gone\n"
                       "pieces       {}\n"
                       "wheel        {} timers, {} fired, {} wake-ups\n",
                       served, late, too_large, gone, counts_.pieces, timers.scheduled, timers.fired, timers.wakeups);
}

} // namespace guard
