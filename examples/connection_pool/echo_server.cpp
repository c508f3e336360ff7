// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "program.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>

namespace demo {

using asio::use_awaitable;
using asio::ip::tcp;

echo_server::echo_server(const asio::any_io_executor& executor)
    : acceptor_{executor, {asio::ip::address_v4::loopback(), 0}} {
    asio::co_spawn(executor, accept(), asio::detached);
}

asio::awaitable<void> echo_server::accept() {
    for (;;) {
        tcp::socket client = co_await acceptor_.async_accept(use_awaitable);
        ++accepted_;
        const auto place = connections_.insert(connections_.end(), std::move(client));
        asio::co_spawn(acceptor_.get_executor(), serve(*place),
                       [this, place](const std::exception_ptr&) { connections_.erase(place); });
    }
}

asio::awaitable<void> echo_server::serve(tcp::socket& client) {
    std::string line;
    for (;;) {
        const std::size_t size =
            co_await asio::async_read_until(client, asio::dynamic_buffer(line), '\n', use_awaitable);
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
