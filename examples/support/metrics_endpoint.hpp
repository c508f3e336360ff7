// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Answers GET /metrics over HTTP/1.1, beside whatever else a server does. One answer for each connection.
//
// - No client holds it up: the head of a request has a size and a time limit, the answer has a time limit, and the
//   connections have a number. What a limit refuses, it ends.
// - It renders slice by slice; other handlers run in between.
// - It has no TLS and asks for no password: listen on loopback, or behind a proxy.
#pragma once

#include "support/accept_loop.hpp"
#include "support/http_request_head.hpp"
#include "support/listen.hpp"
#include "support/output.hpp"
#include "support/spawned.hpp"

#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

/// What a metrics_endpoint has done. 16 connections at most are served at once; further ones are closed.
struct metrics_endpoint_counts {
    std::uint64_t served = 0;  // 200, taken by the client
    std::uint64_t refused = 0; // any other answer, or one connection too many
    std::uint64_t dropped = 0; // the client left, or did not take the answer in time
};

/// For one thread or strand, that of the executor. The functions of the metrics are called there.
/// Lifetime: the wheel and the metrics outlive it. It lives until the context has run after stop().
template <cogwheel::any_timer_wheel Wheel>
class metrics_endpoint {
    using tcp = asio::ip::tcp;
    using clock = typename Wheel::clock_type;

public:
    static constexpr std::size_t max_connections = 16, max_head_bytes = 8192;
    static constexpr std::chrono::seconds head_within{5}, answer_within{10}, refusal_within{2};

    /// Listens; `program` begins each line on standard error. Errors: std::system_error that names the address.
    metrics_endpoint(const asio::any_io_executor& executor, Wheel& wheel, const cogwheel::metrics& source,
                     const tcp::endpoint& address, std::string_view program)
        : wheel_{wheel}, source_{source}, acceptor_{listen_on(executor, address)}, program_{program} {}
    metrics_endpoint(const metrics_endpoint&) = delete;
    metrics_endpoint& operator=(const metrics_endpoint&) = delete;

    /// "ADDRESS:PORT", with the port that the system chose.
    std::string endpoint() const { return to_text(acceptor_.local_endpoint()); }

    /// Serves until stop(). Failures of one connection end that connection; any other leaves the context's run().
    void start() { asio::co_spawn(acceptor_.get_executor(), accept(), rethrow); }

    /// Closes all connections. The context's run() can then return.
    void stop() {
        stopped_ = true;
        std::error_code ignored;
        acceptor_.close(ignored);
        for (const auto& c : clients_) c->socket.close(ignored);
    }

    const metrics_endpoint_counts& counts() const { return counts_; }

private:
    struct client {
        explicit client(tcp::socket&& s) : socket{std::move(s)} {}
        tcp::socket socket;
        std::array<char, max_head_bytes> data;
    };
    static constexpr int gone = 0;
    static constexpr std::size_t max_drained = 256 * 1024;

    asio::awaitable<void> accept() {
        return accept_loop(acceptor_, wheel_, program_, [this](tcp::socket socket) {
            if (clients_.size() >= max_connections) {
                ++counts_.refused;
                return true; // closes it
            }
            const auto c = *clients_.insert(std::make_shared<client>(std::move(socket))).first;
            try {
                asio::co_spawn(acceptor_.get_executor(), serve(*c),
                               [this, c](const std::exception_ptr& failure) { left(c, failure); });
            } catch (...) {
                clients_.erase(c);
                throw;
            }
            return true;
        });
    }

    void left(const std::shared_ptr<client>& c, const std::exception_ptr& failure) {
        clients_.erase(c);
        try {
            rethrow(failure);
        } catch (const std::exception& error) {
            failed(error.what());
        } catch (...) {
            failed("unknown exception");
        }
    }

    // A scraper comes back every few seconds: one line until an answer succeeds.
    void failed(std::string_view why) {
        if (!std::exchange(complained_, true)) output::complain("{}: cannot answer GET /metrics: {}\n", program_, why);
    }

    asio::awaitable<void> serve(client& c) {
        http_request_head head{"/metrics"};
        int status = co_await read_head(c, head);
        std::string body;
        auto format = cogwheel::metrics_format::prometheus;
        if (status == 200) {
            format = cogwheel::format_for(head.accept());
            try {
                body = co_await render(format);
            } catch (const std::exception& error) { // of a function that the program gave to the metrics, or no memory
                failed(error.what());
                status = 500;
            }
        }
        bool taken = false;
        if (status != gone && !stopped_) taken = co_await answer(c, status, format, body);
        if (!taken)
            ++counts_.dropped;
        else if (status == 200)
            ++counts_.served;
        else
            ++counts_.refused;
        if (taken && status == 200) complained_ = false;
        std::error_code ignored;
        c.socket.close(ignored);
    }

    // Returns the status of the answer, or `gone`.
    asio::awaitable<int> read_head(client& c, http_request_head& head) {
        const auto until = clock::now() + head_within;
        for (std::size_t size = 0; size != c.data.size();) {
            std::error_code ec;
            const auto token = asio::redirect_error(asio::use_awaitable, ec);
            const std::size_t bytes = co_await c.socket.async_read_some(asio::buffer(c.data) + size,
                                                                        cogwheel::timeout_at(wheel_, until, token));
            size += bytes;
            if (ec) co_return ec == asio::error::timed_out ? 408 : gone;
            if (const int status = head.look({c.data.data(), size}); status != 0) co_return status;
        }
        co_return 431;
    }

    asio::awaitable<std::string> render(cogwheel::metrics_format format) {
        std::string body;
        auto text = source_.render(format);
        while (text.next(body) && !stopped_) co_await asio::post(asio::use_awaitable);
        co_return body;
    }

    // Returns true if the client has taken the answer. The limit also covers a client that takes it but stays.
    asio::awaitable<bool> answer(client& c, int status, cogwheel::metrics_format format, const std::string& body) {
        const std::string head = head_of_answer(status, format, body.size());
        const auto until = clock::now() + (status == 200 ? answer_within : refusal_within);
        std::error_code ec;
        const auto token = asio::redirect_error(asio::use_awaitable, ec);
        const std::array<asio::const_buffer, 2> both{asio::buffer(head), asio::buffer(body)};
        co_await asio::async_write(c.socket, both, cogwheel::timeout_at(wheel_, until, token));
        if (!ec) c.socket.shutdown(tcp::socket::shutdown_send, ec);
        // Closed with bytes unread, the connection would be reset, and the answer perhaps lost.
        for (std::size_t drained = 0; !ec && drained < max_drained;) {
            const std::size_t bytes =
                co_await c.socket.async_read_some(asio::buffer(c.data), cogwheel::timeout_at(wheel_, until, token));
            drained += bytes;
        }
        co_return ec == asio::error::eof;
    }

    static std::string head_of_answer(int status, cogwheel::metrics_format format, std::size_t size) {
        std::string_view line;
        std::string more;
        switch (status) {
        case 200:
            line = "200 OK";
            more = fmt::format("Content-Type: {}\r\n", cogwheel::content_type(format));
            break;
        case 400:
            line = "400 Bad Request";
            break;
        case 404:
            line = "404 Not Found";
            break;
        case 405:
            line = "405 Method Not Allowed";
            more = "Allow: GET\r\n";
            break;
        case 408:
            line = "408 Request Timeout";
            break;
        case 431:
            line = "431 Request Header Fields Too Large";
            break;
        default:
            line = "500 Internal Server Error";
        }
        return fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n", line, more,
                           status == 200 ? size : 0);
    }

    Wheel& wheel_;
    const cogwheel::metrics& source_;
    tcp::acceptor acceptor_;
    const std::string program_;
    std::unordered_set<std::shared_ptr<client>> clients_;
    metrics_endpoint_counts counts_;
    bool stopped_ = false;
    bool complained_ = false;
};
