// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "worker.hpp"

#include "support/accept_loop.hpp"
#include "support/listen.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <fmt/format.h>

#include <utility>

#include <sys/socket.h>

namespace threaded {
namespace {

/// For set_option(): several sockets may listen on one port, if all of them have this, and one user owns them.
class reuse_port {
public:
    template <class Protocol>
    int level(const Protocol&) const {
        return SOL_SOCKET;
    }
    template <class Protocol>
    int name(const Protocol&) const {
        return SO_REUSEPORT;
    }
    template <class Protocol>
    const void* data(const Protocol&) const {
        return &on_;
    }
    template <class Protocol>
    std::size_t size(const Protocol&) const {
        return sizeof on_;
    }

private:
    int on_ = 1;
};

/// Errors: std::system_error that names address and port.
asio::ip::tcp::acceptor listen_beside_others(asio::io_context& io, const asio::ip::tcp::endpoint& at) {
    try {
        asio::ip::tcp::acceptor acceptor{io, at.protocol()};
        acceptor.set_option(asio::ip::tcp::acceptor::reuse_address{true});
        acceptor.set_option(reuse_port{});
        acceptor.bind(at);
        acceptor.listen();
        return acceptor;
    } catch (const std::system_error& error) {
        throw std::system_error{error.code(), fmt::format("cannot listen on {}", to_text(at))};
    }
}

} // namespace

worker::worker(const options& wanted, const asio::ip::tcp::endpoint& at)
    : options_{wanted}, acceptor_{listen_beside_others(io_, at)} {
    asio::co_spawn(io_, accept(), rethrow);
}

asio::awaitable<void> worker::accept() {
    return accept_loop(acceptor_, wheel_, "threaded_echo", [this](asio::ip::tcp::socket socket) {
        start(std::move(socket));
        return true;
    });
}

void worker::start(asio::ip::tcp::socket socket) {
    if (connections_.size() >= options_.max_connections) {
        ++counts_.refused;
        return; // the socket is closed
    }
    ++counts_.accepted;
    const auto client = std::make_shared<connection>(std::move(socket), wheel_, options_, counts_);
    connections_.insert(client);
    try {
        asio::co_spawn(io_, client->serve(), [this, client](const std::exception_ptr& failure) {
            if (failure != nullptr) ++counts_.failed;
            left(client);
        });
    } catch (...) {
        left(client);
        throw;
    }
}

void worker::left(const std::shared_ptr<connection>& client) {
    connections_.erase(client);
    if (draining_ && connections_.empty()) drain_limit_.cancel(); // or run() would last until then
}

void worker::drain() {
    asio::post(io_, [this] { begin_to_drain(); });
}

void worker::begin_to_drain() {
    if (std::exchange(draining_, true)) return;
    std::error_code ignored;
    acceptor_.close(ignored);
    for (const auto& client : connections_) client->drain();
    if (!connections_.empty()) drain_limit_ = wheel_.schedule(options_.drain, [this] { cut(); });
}

void worker::cut() {
    counts_.cut = connections_.size();
    for (const auto& client : connections_) client->close();
}

std::string worker::summary() const {
    const auto& c = counts_;
    const auto timers = wheel_.stats();
    return fmt::format("{} connections, {} refused, {} idle, {} did not read, {} cut, {} failed; {} timers, {} fired",
                       c.accepted, c.refused, c.idle, c.did_not_read, c.cut, c.failed, timers.scheduled, timers.fired);
}

} // namespace threaded
