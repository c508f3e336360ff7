// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// rpc_server: answers each request with its own body, after a while, in whatever order they become ready. A client that
// says nothing, not even a ping, for --idle is dropped; one that asks faster than it takes its answers has to wait.

#include "server.hpp"

asio::awaitable<void> rpc::session::serve(std::shared_ptr<session>) {
    for (;;) {
        co_await room(); // for more of this client, and of all of them
        if (auto request = channel_->next_frame())
            handle(std::move(*request));
        else
            co_await channel_->read_more();
    }
}

int main(int argc, char** argv) { return rpc::run(argc, argv); }
