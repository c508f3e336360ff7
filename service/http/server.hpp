// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A server of HTTP/1.1 (RFC 9112) on one io_context, for short requests and for answers without end.
//
// - No client holds it up: the head and the body of a request have limits in bytes and in time; an answer has a limit
//   in time that counts from the last byte which the client took. Connections have a number, and so have the bytes of
//   all bodies together. What a limit refuses gets an answer that says so, if the client takes one.
// - Out of descriptors, it goes on serving its connections, and accepts again as soon as there are some.
// - stop() lets requests under way finish.
// - It has no TLS: listen on loopback, or behind a proxy.
#pragma once

#include "http/message.hpp"
#include "http/request_parser.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/net/session_group.hpp>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace cogwheeld {

/// What a server asks of the program around it. Both run on the server's context.
class http_application {
public:
    virtual ~http_application() = default;

    /// Looks at a head before its body is read. Returns the answer that refuses the request, or nothing.
    virtual std::optional<http_response> admit(const http_request& head) = 0;
    /// Answers a request. An exception is answered by 500, and goes to failed().
    virtual asio::awaitable<http_response> answer(http_request& request) = 0;
    /// Answers what never became a request. `status`: what a request_parser refuses; 408; 503: too many connections, or
    /// too many bytes of bodies.
    virtual http_response refuse(int status) = 0;
    /// Hears of a failure of the program: an exception of answer().
    virtual void failed(std::string_view what) noexcept = 0;
};

struct http_limits {
    request_limits request{};
    std::size_t connections = 12'000;
    std::size_t bodies = std::size_t{256} << 20;              ///< bytes of all requests under way together
    std::chrono::nanoseconds idle = std::chrono::seconds(75); ///< between two requests
    std::chrono::nanoseconds head =
        std::chrono::seconds(10); ///< from the first byte of a request to the end of its head
    std::chrono::nanoseconds body = std::chrono::seconds(30); ///< from there to the end of the body
    std::chrono::nanoseconds progress =
        std::chrono::seconds(10); ///< between two bytes of an answer that the client takes
};

struct http_counts {
    std::uint64_t connections = 0; ///< accepted
    std::uint64_t requests = 0;
    std::uint64_t refused = 0; ///< connections beyond the limit, and what never became a request
    std::uint64_t late = 0;    ///< ended by a limit in time, before a request was complete or its answer taken
    std::uint64_t failed = 0;  ///< exceptions
    std::size_t open = 0;      ///< connections now
    std::size_t bodies = 0;    ///< bytes now
};

/// For one thread or strand. Lifetime: wheel and application outlive it; it lives until the context has run after
/// close().
class http_server {
public:
    /// Listens. Errors: std::system_error that names the address.
    http_server(asio::io_context& io, cogwheel::timer_wheel& wheel, const asio::ip::tcp::endpoint& address,
                http_application& application, const http_limits& limits);
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;
    ~http_server();

    /// Returns "ADDRESS:PORT", with the port that the system chose.
    std::string endpoint() const;
    /// Serves until stop().
    void start();
    /// Accepts nothing more, closes connections that wait for a request, and lets the others take their answers.
    void stop();
    /// Waits until all connections have ended, at most for `at_most`, then closes the rest. Returns their number.
    asio::awaitable<std::size_t> drain(std::chrono::nanoseconds at_most);

    http_counts counts() const noexcept;

private:
    class connection;

    asio::awaitable<void> accept();

    cogwheel::timer_wheel& wheel_;
    http_application& application_;
    const http_limits limits_;
    asio::ip::tcp::acceptor acceptor_;
    cogwheel::session_group<> sessions_;
    std::unordered_set<connection*> connections_;
    http_counts counts_;
    bool stopping_ = false;
};

} // namespace cogwheeld
