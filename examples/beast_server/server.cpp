// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Accepting, and the end. Only the acceptor's end ends accept(), and no coroutine ends in silence.
#include "server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <exception>

namespace beast_server {
namespace {

using asio::redirect_error;
using asio::use_awaitable;
using boost::system::error_code;

void complain(const char* where, const std::exception_ptr& thrown) {
    if (!thrown) return;
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "beast_server: %s: %s\n", where, error.what());
    }
}

} // namespace

void server::listen(const asio::ip::tcp::endpoint& at, error_code& ec) {
    acceptor_.open(at.protocol(), ec);
    if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
    if (!ec) acceptor_.bind(at, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) return;
    asio::co_spawn(acceptor_.get_executor(), accept(), [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e); // run() throws it
    });
}

asio::awaitable<void> server::accept() {
    while (acceptor_.is_open()) {
        error_code ec;
        auto socket = co_await acceptor_.async_accept(redirect_error(use_awaitable, ec));
        if (!acceptor_.is_open()) co_return;
        if (ec) {
            // Out of descriptors or memory. To try again at once would spin, to give up would leave a dead server.
            std::fprintf(stderr, "beast_server: cannot accept: %s; trying again in 100 ms\n", ec.message().c_str());
            error_code ignored;
            co_await wheel_.async_wait(std::chrono::milliseconds(100), redirect_error(use_awaitable, ignored));
            continue;
        }
        if (connections_.size() >= limits_.connections) {
            ++refused_;
            continue; // the socket closes
        }
        ++accepted_;
        const auto at = connections_.insert(connections_.end(), connection{std::move(socket), {}});
        asio::co_spawn(acceptor_.get_executor(), serve(at, sessions_.enter()),
                       [](std::exception_ptr e) { complain("connection", e); });
    }
}

asio::awaitable<void> server::serve(std::list<connection>::iterator at,
                                    cogwheel::session_group<cogwheel::local_timer_wheel>::member session) {
    std::exception_ptr thrown;
    try {
        co_await serve_http(*at);
    } catch (...) {
        thrown = std::current_exception();
    }
    connections_.erase(at); // the socket closes
    session.leave();
    if (thrown) std::rethrow_exception(thrown);
}

void server::stop() {
    stopping_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    for (auto& c : connections_)
        if (c.end) c.end();
    asio::co_spawn(wheel_.get_executor(), drain(), [](std::exception_ptr e) { complain("drain", e); });
}

asio::awaitable<void> server::drain() {
    error_code ec;
    co_await sessions_.async_drain(limits_.drain, redirect_error(use_awaitable, ec));
    if (!ec) co_return;
    std::fprintf(stderr, "beast_server: closing %zu connections that are not done\n", connections_.size());
    error_code ignored;
    for (auto& c : connections_) c.socket.close(ignored);
}

std::string server::summary() const {
    return std::to_string(accepted_) + " connections, " + std::to_string(requests_) + " requests, " +
           std::to_string(messages_) + " messages, " + std::to_string(timed_out_) + " timed out, " +
           std::to_string(refused_) + " refused";
}

} // namespace beast_server
