// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A small HTTP/1.1 server around the receiver.
//
// - No client holds it up: head, body and time of a request have limits, and so has the number of connections. A
//   connection without a request for `idle` is closed.
// - stop() lets requests under way finish, at most for `within`, and closes the other connections at once.
// - It has no TLS: listen on loopback, or behind a proxy.
#pragma once

#include "receiver.hpp"

#include <cogwheel/net/idle_stream.hpp>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

struct server_options {
    asio::ip::tcp::endpoint address{asio::ip::address_v4::loopback(), 0};
    std::chrono::nanoseconds idle = std::chrono::seconds{30};
    std::chrono::nanoseconds within = std::chrono::seconds{10}; // from the first byte of a request to the last
    std::size_t max_connections = 1'000;
    std::size_t max_body = std::size_t{1} << 20;
    std::chrono::nanoseconds delay{0}; // before each answer: for demonstrations
    std::string retry_after{};         // with each answer from 400 on
};

struct server_counts {
    std::uint64_t connections = 0, fresh = 0, repeated = 0, failed = 0, refused = 0, late = 0;
};

/// For one thread. Lifetime: receiver and context outlive it; it lives until the context has run after stop().
class server {
public:
    using report = std::function<void(const http_request&, const verdict&)>;

    /// Listens. `each` is called for each request that was judged. Errors: std::system_error.
    server(asio::io_context& io, const server_options& wanted, receiver& receiver, report each);

    std::string endpoint() const;
    void start();
    void stop();
    std::string summary() const;

private:
    struct client;
    using client_ptr = std::shared_ptr<client>;
    using clock = cogwheel::timer_wheel::clock_type;

    asio::awaitable<void> accept();
    asio::awaitable<void> serve(client_ptr c);
    asio::awaitable<int> read_request(client& c, http_request& request);
    asio::awaitable<bool> read_more(client& c, clock::time_point until);
    asio::awaitable<bool> answer(client& c, verdict v, bool keep_alive);
    asio::awaitable<void> linger(client& c);
    void count(const verdict& v);

    server_options options_;
    receiver& receiver_;
    report each_;
    cogwheel::timer_wheel wheel_;
    asio::ip::tcp::acceptor acceptor_;
    std::unordered_set<client_ptr> clients_;
    server_counts counts_;
    bool stopping_ = false;
};
