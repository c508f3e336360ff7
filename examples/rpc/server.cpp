// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What surrounds the clients: who is let in, why they left, and the end.

#include "server.hpp"

#include "support/accept_loop.hpp"
#include "support/spawned.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rpc {

server::server(const server_options& o) : options_{o}, random_{o.seed} {
    signals_.async_wait([this](std::error_code ec, int) {
        if (!ec) stop();
    });
    accept_if_room();
}

void server::accept_if_room() {
    if (accepting_ || !acceptor_.is_open() || clients_.size() >= options_.connections) return;
    accepting_ = true;
    asio::co_spawn(io_, accept_loop(acceptor_, wheel_, "rpc", [this](tcp::socket s) { return start(std::move(s)); }),
                   [this](const std::exception_ptr& failure) {
                       accepting_ = false;
                       rethrow(failure);
                       accept_if_room(); // there may be room again by now
                   });
}

/// False at the limit; the next client that leaves then starts the accept loop again.
bool server::start(tcp::socket socket) {
    const auto client = std::make_shared<session>(wheel_, options_, load_, counts_, random_, std::move(socket));
    client->prepare();
    clients_.insert(client);
    try {
        asio::co_spawn(io_, client->serve(client),
                       [this, client](const std::exception_ptr& failure) { left(client, failure); });
    } catch (...) {
        clients_.erase(client);
        throw;
    }
    ++counts_.connections;
    most_clients_ = std::max(most_clients_, clients_.size());
    return clients_.size() < options_.connections;
}

/// An idle client is counted where it is found idle.
void server::left(const std::shared_ptr<session>& client, const std::exception_ptr& failure) {
    try {
        rethrow(failure);
    } catch (const std::system_error& reason) {
        if (reason.code() == asio::error::message_size) ++counts_.bad_frames;
        if (reason.code() == asio::error::timed_out && client->is_open()) ++counts_.slow_frames;
    } catch (const std::exception&) { // out of memory, say: that of one client is to be had again
        ++counts_.failed;
    }
    if (client->does_not_read()) ++counts_.not_reading;
    client->close();
    clients_.erase(client);
    if (clients_.empty()) end_of_grace_.cancel();
    accept_if_room();
}

void server::stop() {
    std::error_code ignored;
    signals_.clear(ignored); // a second signal ends the process at once
    signals_.cancel(ignored);
    statistics_.stop();
    acceptor_.close(ignored);
    if (clients_.empty()) return;
    end_of_grace_ = wheel_.schedule(options_.grace, [this] {
        for (const auto& client : clients_) client->close();
    });
    for (const auto& client : clients_) client->drain();
}

std::string server::summary() const {
    const statistics& c = counts_;
    return fmt::format("served   {} connections, {} requests, {} answered\n"
                       "dropped  {} idle, {} slow frames, {} bad frames, {} that did not read, {} failed\n"
                       "at most  {} connections, {} requests, {} bytes at once\n",
                       c.connections, c.requests, c.answered, c.idle, c.slow_frames, c.bad_frames, c.not_reading,
                       c.failed, most_clients_, load_.most().requests, load_.most().bytes);
}

} // namespace rpc
