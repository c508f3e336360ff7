// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The server: its limits, its connections, and how it ends.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/net/session_group.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <functional>
#include <list>
#include <string>

namespace asio = boost::asio;

namespace beast_server {

struct limits {
    std::chrono::milliseconds request{10'000};    ///< for a request, from its first byte
    std::chrono::milliseconds keep_alive{30'000}; ///< without a request
    std::chrono::milliseconds write{10'000};      ///< for an answer or a message
    std::chrono::milliseconds silence{20'000};    ///< of a WebSocket: then a ping, and after as much again the end
    std::chrono::milliseconds drain{5'000};       ///< for what is under way at the end
    std::size_t head_bytes = 8 * 1024;
    std::size_t body_bytes = 64 * 1024; ///< of a request, and of a message
    std::size_t connections = 10'000;
};

/// A connection, as the server knows it.
struct connection {
    asio::ip::tcp::socket socket;
    std::function<void()> end; ///< what the drain calls, if the connection has nothing under way
};

/// For one thread.
class server {
public:
    server(asio::io_context& io, const limits& limits)
        : limits_(limits), wheel_(io, {.tick = limits_tick}), acceptor_(io) {}

    void listen(const asio::ip::tcp::endpoint& at, boost::system::error_code& ec);
    unsigned short port() const { return acceptor_.local_endpoint().port(); }

    /// Accepts no more; ends connections without a request, and the others when they are done, or after limits::drain.
    void stop();

    std::string summary() const;

private:
    static constexpr std::chrono::milliseconds limits_tick{5};

    asio::awaitable<void> accept();
    asio::awaitable<void> drain();
    asio::awaitable<void> serve(std::list<connection>::iterator at,
                                cogwheel::session_group<cogwheel::local_timer_wheel>::member session);
    asio::awaitable<void> serve_http(connection& c);
    template <class Request>
    asio::awaitable<void> serve_websocket(connection& c, const Request& upgrade);

    const limits limits_;
    cogwheel::local_timer_wheel wheel_;
    asio::ip::tcp::acceptor acceptor_;
    cogwheel::session_group<cogwheel::local_timer_wheel> sessions_{wheel_};
    std::list<connection> connections_;
    bool stopping_ = false;
    std::size_t accepted_ = 0, requests_ = 0, messages_ = 0, timed_out_ = 0, refused_ = 0;
};

} // namespace beast_server
