// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http/connection.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <fmt/format.h>

#include <exception>
#include <iterator>

namespace cogwheeld {

namespace {

constexpr std::chrono::seconds linger_within{2};

/// Appends the head of an answer. `size`: of the body; nothing: the end of the connection ends it.
void add_head(std::string& to, const http_response& r, bool keep, std::optional<std::size_t> size) {
    auto out = std::back_inserter(to);
    fmt::format_to(out, "HTTP/1.1 {} {}\r\n", r.status, reason(r.status));
    fmt::format_to(out, "Date: {}\r\n", http_date(std::chrono::system_clock::now()));
    if (!r.content_type.empty()) fmt::format_to(out, "Content-Type: {}\r\n", r.content_type);
    for (const auto& [name, value] : r.fields) fmt::format_to(out, "{}: {}\r\n", name, value);
    if (size) fmt::format_to(out, "Content-Length: {}\r\n", *size);
    fmt::format_to(out, "{}\r\n", keep ? "" : "Connection: close\r\n");
}

} // namespace

http_server::connection::connection(http_server& server, asio::ip::tcp::socket socket)
    : server_{server},
      socket_{std::move(socket)},
      writer_{socket_, server.wheel_, server.limits_.progress},
      parser_{server.limits_.request} {
    server_.connections_.insert(this);
}

http_server::connection::~connection() {
    server_.counts_.bodies -= body_;
    server_.connections_.erase(this);
}

void http_server::connection::close() noexcept {
    std::error_code ignored;
    socket_.close(ignored);
}

void http_server::connection::close_if_idle() noexcept {
    if (!busy_) close();
}

asio::awaitable<void> http_server::connection::serve() {
    std::error_code ec;
    parser_.request().peer = socket_.remote_endpoint(ec).address();
    const auto peer = parser_.request().peer;
    if (ec) co_return; // it has left already
    socket_.set_option(asio::ip::tcp::no_delay(true), ec);
    for (bool keep = true; keep && !server_.stopping_;) {
        busy_ = false;
        auto came = co_await read_head();
        if (came == result::gone) co_return;
        busy_ = true;
        std::optional<http_response> response;
        if (came == result::ok) {
            parser_.request().peer = peer;
            response = server_.application_.admit(parser_.request());
            if (response) parse(); // if it has no body, the connection can stay
        }
        if (came == result::ok && !response) came = co_await read_body();
        if (came == result::gone) co_return;
        if (came == result::refused) {
            ++server_.counts_.refused;
            response = server_.application_.refuse(refusal_ != 0 ? refusal_ : parser_.refusal());
        }
        if (!response) response = co_await respond();
        keep = parser_.where() == stage::complete && parser_.keeps_alive() && !response->close && !response->pieces &&
               !server_.stopping_;
        const bool taken = co_await write(std::move(*response), keep);
        parser_.next();
        account_body();
        if (!taken) co_return;
    }
    co_await linger();
}

asio::awaitable<void> http_server::connection::turn_away() {
    busy_ = true;
    ++server_.counts_.refused;
    auto response = server_.application_.refuse(503);
    co_await write(std::move(response), false);
    co_await linger();
}

void http_server::connection::parse() {
    const auto before = parser_.where();
    while (!rest_.empty() && parser_.where() < stage::complete) {
        rest_.remove_prefix(parser_.take(rest_));
        if (before < stage::body && parser_.where() == stage::body) break; // its head comes first
    }
    account_body();
}

void http_server::connection::account_body() {
    const std::size_t now = parser_.request().body.capacity();
    server_.counts_.bodies += now - body_;
    body_ = now;
}

asio::awaitable<http_server::connection::result> http_server::connection::read_head() {
    refusal_ = 0;
    auto until = clock::now() + server_.limits_.idle;
    for (bool began = false;;) {
        parse();
        const auto where = parser_.where();
        if (where == stage::refused) co_return result::refused;
        if (where >= stage::body) co_return result::ok;
        if (where == stage::head && !began) {
            began = busy_ = true;
            until = clock::now() + server_.limits_.head;
        }
        const bool more = co_await read_some(until);
        if (more) continue;
        if (!timed_out_ || !began) co_return result::gone;
        refusal_ = 408;
        ++server_.counts_.late;
        co_return result::refused;
    }
}

asio::awaitable<http_server::connection::result> http_server::connection::read_body() {
    parse();
    const auto until = clock::now() + server_.limits_.body;
    if (parser_.where() == stage::body && parser_.waits_for_continue() && rest_.empty()) {
        const bool sent = co_await send("HTTP/1.1 100 Continue\r\n\r\n");
        if (!sent) co_return result::gone;
    }
    while (parser_.where() == stage::body) {
        if (server_.counts_.bodies > server_.limits_.bodies) {
            refusal_ = 503;
            co_return result::refused;
        }
        const bool more = co_await read_some(until);
        if (!more) {
            if (!timed_out_) co_return result::gone;
            refusal_ = 408;
            ++server_.counts_.late;
            co_return result::refused;
        }
        parse();
    }
    co_return parser_.where() == stage::complete ? result::ok : result::refused;
}

asio::awaitable<bool> http_server::connection::read_some(clock::time_point until) {
    std::error_code ec;
    const auto token = asio::redirect_error(asio::use_awaitable, ec);
    const std::size_t bytes =
        co_await socket_.async_read_some(asio::buffer(piece_), cogwheel::timeout(server_.wheel_, until, token));
    rest_ = {piece_.data(), bytes};
    timed_out_ = ec == asio::error::timed_out && socket_.is_open();
    co_return !ec;
}

asio::awaitable<http_response> http_server::connection::respond() {
    ++server_.counts_.requests;
    std::string why;
    try {
        auto response = co_await server_.application_.answer(parser_.request());
        co_return response;
    } catch (const std::exception& error) {
        why = error.what();
    }
    ++server_.counts_.failed;
    server_.application_.failed(why);
    co_return server_.application_.refuse(500);
}

asio::awaitable<bool> http_server::connection::write(http_response response, bool keep) {
    const bool is_head = parser_.where() >= stage::body && parser_.request().method == "HEAD";
    std::string bytes;
    add_head(bytes, response, keep, response.pieces ? std::nullopt : std::optional(response.body.size()));
    if (!is_head) bytes += response.body;
    bool taken = co_await send(bytes);
    while (taken && response.pieces && !is_head) {
        const http_piece piece = co_await response.pieces();
        if (!piece) break;
        taken = co_await send(*piece);
    }
    co_return taken;
}

asio::awaitable<bool> http_server::connection::send(std::string_view bytes) {
    const auto ec = co_await writer_.write(asio::buffer(bytes));
    if (writer_.gave_up()) ++server_.counts_.late;
    co_return !ec;
}

// Closed with bytes unread, the connection would be reset, and the answer perhaps lost.
asio::awaitable<void> http_server::connection::linger() {
    constexpr std::size_t most = std::size_t{1} << 20;
    std::error_code ec;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
    const auto until = clock::now() + linger_within;
    for (std::size_t drained = 0; !ec && drained < most; drained += rest_.size()) {
        const bool more = co_await read_some(until);
        if (!more) break;
    }
}

} // namespace cogwheeld
