// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Accepting while there is room, and the end. No coroutine ends in silence.

#include "proxy.hpp"

#include "support/accept_loop.hpp"
#include "support/listen.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace tcp_proxy {

proxy::proxy(asio::io_context& io, std::uint16_t port, target to, const limits& limits)
    : target_{std::move(to)},
      limits_{limits},
      wheel_{io},
      acceptor_{listen_on(io.get_executor(), {asio::ip::address_v4::loopback(), port})} {
    accept_if_room();
}

void proxy::accept_if_room() {
    if (stopping_ || accepting_ || tunnels_.size() >= limits_.tunnels) return;
    accepting_ = true;
    asio::co_spawn(acceptor_.get_executor(), accept(), rethrow);
}

asio::awaitable<void> proxy::accept() {
    co_await accept_loop(acceptor_, wheel_, "tcp_proxy",
                         [this](asio::ip::tcp::socket client) { return start(std::move(client)); });
    accepting_ = false;
}

// Returns whether there is room for another one.
bool proxy::start(asio::ip::tcp::socket client) {
    const auto which = tunnels_.emplace(tunnels_.end(), std::move(client), wheel_, limits_);
    asio::co_spawn(acceptor_.get_executor(), which->run(target_.host, target_.service),
                   [this, which, session = sessions_.enter()](const std::exception_ptr& failure, ending how) {
                       ended(which, failure, how);
                   });
    return tunnels_.size() < limits_.tunnels;
}

void proxy::ended(std::list<tunnel>::iterator which, const std::exception_ptr& failure, ending how) {
    if (failure != nullptr)
        ++failed_;
    else
        ++endings_[static_cast<std::size_t>(how)];
    if (how != ending::unreachable)
        complained_ = false;
    else if (!std::exchange(complained_, true))
        output::complain("tcp_proxy: cannot reach {}:{}: {}\n", target_.host, target_.service,
                         which->error().message());
    bytes_ += which->bytes();
    tunnels_.erase(which);
    accept_if_room();
}

asio::awaitable<void> proxy::drain() {
    stopping_ = true;
    std::error_code ec;
    acceptor_.close(ec);
    co_await sessions_.async_drain(limits_.drain, asio::redirect_error(asio::use_awaitable, ec));
    if (ec == asio::error::timed_out) cut();
}

void proxy::cut() {
    if (!tunnels_.empty()) output::complain("tcp_proxy: cutting {} tunnels\n", tunnels_.size());
    for (tunnel& each : tunnels_) each.cut();
}

std::string proxy::summary() const {
    const auto& [done, unreachable, idle, stuck, broken, cut] = endings_;
    return fmt::format(
        "{} tunnels open; {} done, {} unreachable, {} idle, {} stuck, {} broken, {} cut, {} failed; {} bytes\n",
        tunnels_.size(), done, unreachable, idle, stuck, broken, cut, failed_, bytes_);
}

} // namespace tcp_proxy
