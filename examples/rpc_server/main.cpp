// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// rpc_server: answers each request with its own body, after a while, in whatever order they become ready. A client that says
// nothing, not even a ping, for --idle is dropped.

#include "server.hpp"

asio::awaitable<void> rpc::server::serve(tcp::socket socket) {
    const auto client =
        std::make_shared<channel>(wheel_, cogwheel::idle_limits{.reader = options_.idle}, std::move(socket));
    client->stream().close_when_idle([this](const cogwheel::idle_event&) { ++idle_; });
    try {
        for (;;) handle(client, co_await client->receive());
    } catch (const std::system_error&) {
        client->close();
    }
}

int main(int argc, char** argv) { return rpc::run(argc, argv); }
