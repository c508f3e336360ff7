// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "program.hpp"
#include "support/accept_loop.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>

namespace demo {

using asio::use_awaitable;
using asio::ip::tcp;

echo_server::echo_server(const asio::any_io_executor& executor, wheel& timers)
    : acceptor_{executor, {asio::ip::address_v4::loopback(), 0}} {
    asio::co_spawn(executor, accept(timers), rethrow);
}

asio::awaitable<void> echo_server::accept(wheel& timers) {
    return accept_loop(acceptor_, timers, "connection_pool", [this](tcp::socket client) {
        ++accepted_;
        const auto place = connections_.insert(connections_.end(), std::move(client));
        asio::co_spawn(acceptor_.get_executor(), serve(*place), [this, place](const std::exception_ptr& failure) {
            connections_.erase(place);
            rethrow_unless_network(failure);
        });
        return true;
    });
}

asio::awaitable<void> echo_server::serve(tcp::socket& client) {
    std::string line;
    for (;;) {
        const std::size_t size =
            co_await asio::async_read_until(client, asio::dynamic_buffer(line, longest_line), '\n', use_awaitable);
        const bool drops = line == "drop\n";
        co_await asio::async_write(client, asio::buffer(line, drops ? 2 : size), use_awaitable);
        if (drops) co_return;
        line.erase(0, size);
    }
}

void echo_server::hang_up() {
    for (tcp::socket& client : connections_) client.close();
}

void echo_server::stop() {
    acceptor_.close();
    hang_up();
}

} // namespace demo
