// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http/server.hpp"

#include "http/connection.hpp"
#include "support/accept_loop.hpp"
#include "support/listen.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>

namespace cogwheeld {

http_server::http_server(asio::io_context& io, cogwheel::timer_wheel& wheel, const asio::ip::tcp::endpoint& address,
                         http_application& application, const http_limits& limits)
    : wheel_{wheel},
      application_{application},
      limits_{limits},
      acceptor_{listen_on(io.get_executor(), address)},
      sessions_{wheel} {}

http_server::~http_server() = default;

std::string http_server::endpoint() const { return to_text(acceptor_.local_endpoint()); }

void http_server::start() { asio::co_spawn(acceptor_.get_executor(), accept(), rethrow); }

void http_server::stop() {
    stopping_ = true;
    std::error_code ignored;
    acceptor_.close(ignored);
    for (connection* c : connections_) c->close_if_idle();
}

asio::awaitable<std::size_t> http_server::drain(std::chrono::nanoseconds at_most) {
    std::error_code ec;
    co_await sessions_.async_drain(at_most, asio::redirect_error(asio::use_awaitable, ec));
    for (connection* c : connections_) c->close();
    co_return connections_.size();
}

http_counts http_server::counts() const noexcept {
    auto result = counts_;
    result.open = connections_.size();
    return result;
}

asio::awaitable<void> http_server::accept() {
    // Beyond the limit, some connections are told so; the others are closed.
    const std::size_t told = limits_.connections / 64 + 8;
    return accept_loop(acceptor_, wheel_, "cogwheeld", [this, told](asio::ip::tcp::socket socket) {
        ++counts_.connections;
        if (connections_.size() >= limits_.connections + told) {
            ++counts_.refused;
            return true; // closes it
        }
        const bool full = connections_.size() >= limits_.connections;
        auto c = std::make_unique<connection>(*this, std::move(socket));
        auto& served = *c;
        // The connection goes with the completion, which co_spawn also destroys if it cannot start.
        asio::co_spawn(acceptor_.get_executor(), full ? served.turn_away() : served.serve(),
                       [this, c = std::move(c), in = sessions_.enter()](const std::exception_ptr& failure) {
                           if (failure == nullptr) return;
                           ++counts_.failed;
                           try {
                               std::rethrow_exception(failure);
                           } catch (const std::exception& error) {
                               application_.failed(error.what());
                           }
                       });
        return true;
    });
}

} // namespace cogwheeld
