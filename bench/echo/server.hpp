// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An echo server on one thread: a chain of two handlers a connection, which is Asio's cheapest, so that a limit's share
// of the whole is the largest it can be. It serves while somebody runs its context.
#pragma once

#include "echo/idle_policies.hpp"

#include <asio/buffer.hpp>
#include <asio/write.hpp>

#include <array>
#include <memory>
#include <vector>

namespace bench::echo {

/// On a cache line's beginning: what a policy adds decides over the lines that it uses, and not over those of its
/// neighbours.
template <class Limit>
class alignas(64) connection {
public:
    connection(tcp::socket socket, typename Limit::shared& all) : socket_(std::move(socket)), limit_(all, socket_) {}
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    void start() {
        limit_.start();
        read();
    }
    void touch() { limit_.read(); }
    bool is_armed() { return socket_.is_open() && limit_.is_armed(); }

private:
    void read() {
        socket_.async_read_some(asio::buffer(data_), [this](std::error_code ec, std::size_t size) {
            if (ec) return close();
            limit_.read();
            write(size);
        });
    }
    void write(std::size_t size) {
        asio::async_write(socket_, asio::buffer(data_, size), [this](std::error_code ec, std::size_t) {
            if (ec) return close();
            limit_.written();
            read();
        });
    }
    void close() {
        std::error_code ignored;
        socket_.close(ignored);
    }

    tcp::socket socket_;
    Limit limit_;
    std::array<char, 512> data_;
};

template <class Limit>
class server {
public:
    server() { accept(); }

    asio::io_context& context() noexcept { return io_; }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::size_t connections() const noexcept { return connections_.size(); }

    /// As if each connection had just received something.
    void touch_all() {
        for (const auto& c : connections_) c->touch();
    }

    /// How many connections are alive, and limited.
    std::size_t pending() {
        std::size_t armed = 0;
        for (const auto& c : connections_) armed += c->is_armed();
        return all_.pending(armed);
    }
    std::uint64_t kicked() const noexcept { return all_.count; }

private:
    void accept() {
        acceptor_.async_accept([this](std::error_code ec, tcp::socket socket) {
            if (ec) return;
            socket.set_option(tcp::no_delay(true), ec);
            connections_.push_back(std::make_unique<connection<Limit>>(std::move(socket), all_));
            connections_.back()->start();
            accept();
        });
    }

    asio::io_context io_{1};
    typename Limit::shared all_{io_};
    tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::vector<std::unique_ptr<connection<Limit>>> connections_;
};

} // namespace bench::echo
