// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a connection does: requests, and after an upgrade messages. Each wait for the client has its limit.
#include "server.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/net/idle_monitor.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <optional>

namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

namespace beast_server {
namespace {

using asio::redirect_error;
using asio::use_awaitable;
using boost::system::error_code;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

response answer(const request& asked) {
    response a(http::status::ok, asked.version());
    a.set(http::field::content_type, "text/plain");
    a.keep_alive(asked.keep_alive());
    if (asked.method() == http::verb::get)
        a.body() = "hello\n";
    else if (asked.method() == http::verb::post)
        a.body() = asked.body();
    else
        a.result(http::status::method_not_allowed);
    a.prepare_payload();
    return a;
}

/// For what could not be read: then the connection ends, because nobody knows where the next request begins.
std::optional<response> refusal(const error_code& ec) {
    http::status status{};
    if (ec == asio::error::timed_out)
        status = http::status::request_timeout;
    else if (ec == http::error::body_limit)
        status = http::status::payload_too_large;
    else if (ec == http::error::header_limit)
        status = http::status::request_header_fields_too_large;
    else if (ec.category() == make_error_code(http::error::bad_method).category() && ec != http::error::end_of_stream &&
             ec != http::error::partial_message)
        status = http::status::bad_request;
    else
        return std::nullopt; // the client has gone
    response a(status, 11);
    a.keep_alive(false);
    a.prepare_payload();
    return a;
}

using websocket_stream = websocket::stream<asio::ip::tcp::socket&>;

/// Asks a silent peer by a ping, and closes the connection if that brings nothing either. Whatever arrives is a sign of
/// life, a pong too. The monitor has one timer, which activity does not move.
class silence_guard {
public:
    silence_guard(cogwheel::local_timer_wheel& wheel, asio::ip::tcp::socket& socket, websocket_stream& ws,
                  std::chrono::milliseconds limit, std::size_t& timed_out)
        : socket_(socket), ws_(ws), timed_out_(timed_out), idle_(wheel, socket.get_executor(), {.reader = limit}) {
        ws_.control_callback([this](websocket::frame_type, boost::beast::string_view) { touch(); });
        watch();
    }
    silence_guard(const silence_guard&) = delete;
    silence_guard& operator=(const silence_guard&) = delete;

    void touch() noexcept { idle_.touch_read(); }

private:
    void watch() {
        idle_.async_idle([this](error_code ec, const cogwheel::idle_event& event) {
            if (ec) return; // the session has ended, and this object with it
            if (!event.first) {
                ++timed_out_;
                socket_.close(ec);
                return;
            }
            ws_.async_ping({}, [](error_code) {});
            watch();
        });
    }

    asio::ip::tcp::socket& socket_;
    websocket_stream& ws_;
    std::size_t& timed_out_;
    cogwheel::idle_monitor<cogwheel::local_timer_wheel> idle_; // its end ends the watch
};

} // namespace

asio::awaitable<void> server::serve_http(connection& c) {
    boost::beast::flat_buffer buffer(limits_.head_bytes + limits_.body_bytes);
    error_code ec;
    for (bool open = true; open && !stopping_;) {
        if (buffer.size() == 0) { // no pipelined request
            c.end = [&c, &ec] { c.socket.cancel(ec); };
            co_await c.socket.async_wait(
                asio::ip::tcp::socket::wait_read,
                cogwheel::timeout(wheel_, limits_.keep_alive, redirect_error(use_awaitable, ec)));
            c.end = nullptr;
            if (ec) {
                timed_out_ += ec == asio::error::timed_out ? 1 : 0;
                co_return;
            }
        }
        http::request_parser<http::string_body> parser;
        parser.header_limit(static_cast<std::uint32_t>(limits_.head_bytes));
        parser.body_limit(limits_.body_bytes);
        co_await http::async_read(c.socket, buffer, parser,
                                  cogwheel::timeout(wheel_, limits_.request, redirect_error(use_awaitable, ec)));
        std::optional<response> a;
        if (ec) {
            timed_out_ += ec == asio::error::timed_out ? 1 : 0;
            a = refusal(ec);
            if (!a) co_return;
        } else {
            ++requests_;
            if (websocket::is_upgrade(parser.get())) {
                co_await serve_websocket(c, parser.get());
                co_return;
            }
            a = answer(parser.get());
        }
        if (stopping_) a->keep_alive(false);
        open = a->keep_alive();
        co_await http::async_write(c.socket, *a,
                                   cogwheel::timeout(wheel_, limits_.write, redirect_error(use_awaitable, ec)));
        if (ec) {
            timed_out_ += ec == asio::error::timed_out ? 1 : 0;
            co_return;
        }
    }
    // Closed with bytes unread, the connection would be reset, and the answer perhaps lost.
    c.socket.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
    char rest[1024];
    for (std::size_t read = 0; !ec && read < limits_.body_bytes; read += sizeof rest)
        co_await c.socket.async_read_some(
            asio::buffer(rest), cogwheel::timeout(wheel_, limits_.request, redirect_error(use_awaitable, ec)));
}

template <class Request>
asio::awaitable<void> server::serve_websocket(connection& c, const Request& upgrade) {
    error_code ec;
    websocket_stream ws(c.socket);
    ws.read_message_max(limits_.body_bytes);
    co_await ws.async_accept(upgrade, cogwheel::timeout(wheel_, limits_.write, redirect_error(use_awaitable, ec)));
    if (ec) co_return;

    silence_guard guard(wheel_, c.socket, ws, limits_.silence, timed_out_);
    c.end = [&ws] { ws.async_close(websocket::close_code::going_away, [](error_code) {}); }; // the answer ends the read
    boost::beast::flat_buffer message;
    for (;;) {
        co_await ws.async_read(message, redirect_error(use_awaitable, ec));
        if (ec) break;
        guard.touch();
        ++messages_;
        ws.text(ws.got_text());
        co_await ws.async_write(message.data(),
                                cogwheel::timeout(wheel_, limits_.write, redirect_error(use_awaitable, ec)));
        if (ec) {
            timed_out_ += ec == asio::error::timed_out ? 1 : 0;
            break;
        }
        message.consume(message.size());
    }
    c.end = nullptr;
    c.socket.close(ec);
}

} // namespace beast_server
