// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What surrounds a connection: who accepts it, when an answer is ready.

#include "server.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <fmt/format.h>

#include <utility>

namespace rpc {

using namespace std::chrono_literals;

server::server(const options& o) : options_{o}, random_{o.seed} {
    signals_.async_wait([this](std::error_code, int) { stop(); });
    asio::co_spawn(io_, accept(), asio::detached);
}

void server::run() {
    fmt::print("listening on 127.0.0.1:{}\n", acceptor_.local_endpoint().port());
    output::flush();
    io_.run();
    fmt::print("{}", summary());
}

std::string server::summary() const {
    return fmt::format("served {} connections, {} requests, {} answered, {} dropped for idleness\n", connections_,
                       requests_, answered_, idle_);
}

asio::awaitable<void> server::accept() {
    bool complained = false;
    while (acceptor_.is_open()) {
        std::error_code ec;
        auto socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (!ec) {
            ++connections_;
            asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
        } else if (acceptor_.is_open()) { // out of descriptors, say
            if (!std::exchange(complained, true))
                output::complain("rpc_server: cannot accept: {}; trying again every 100 ms\n", ec.message());
            co_await wheel_.async_wait(100ms, asio::redirect_error(asio::use_awaitable, ec));
        }
    }
}

void server::handle(const std::shared_ptr<channel>& client, frame request) {
    if (request.what == kind::ping) return client->send(kind::ping, 0, {});
    ++requests_;
    // An answer whose client has gone is not sent.
    wheel_.schedule(delay(), [this, weak = std::weak_ptr(client), r = std::move(request)] {
        const auto alive = weak.lock();
        if (alive == nullptr || !alive->stream().lowest_layer().is_open()) return;
        alive->send(kind::response, r.id, r.body);
        ++answered_;
    });
}

std::chrono::nanoseconds server::delay() {
    return std::chrono::nanoseconds{std::uniform_int_distribution<std::int64_t>{0, options_.delay.count()}(random_)};
}

void server::stop() {
    std::error_code ignored;
    acceptor_.close(ignored);
    statistics_.stop();
    io_.stop();
}

} // namespace rpc
