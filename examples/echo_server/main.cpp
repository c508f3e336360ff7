// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// echo_server: an echo server that closes idle connections and those whose peers do not read, with one timer for each.

#include "program.hpp"

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

asio::awaitable<void> echo::connection::serve(std::shared_ptr<connection>) {
    stream_.close_when_idle([this](const cogwheel::idle_event& event) {
        counts_.kicked(kick_reason::idle, event.idle_for - limits_.idle);
    });

    for (;;) {
        std::error_code ec;
        const std::size_t size =
            co_await stream_.async_read_some(asio::buffer(data_), asio::redirect_error(asio::use_awaitable, ec));
        if (ec || !co_await echo(size)) break;
    }
    close();
}

int main(int argc, char** argv) { return echo::run(argc, argv); }
