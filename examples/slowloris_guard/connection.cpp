// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reading piece by piece, and an answer that arrives also where the client is still talking.

#include "connection.hpp"

#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <algorithm>

namespace guard {
namespace {

using asio::redirect_error;
using asio::use_awaitable;

constexpr std::chrono::seconds goodbye_limit{2};

constexpr std::string_view answer_for(verdict v) {
    switch (v) {
    case verdict::served:
        return "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";
    case verdict::late:
        return "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    case verdict::too_large:
        return "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    default:
        return {};
    }
}

} // namespace

void socket_timer::fire() {
    fired_ = true;
    std::error_code ignored;
    if (closes_)
        socket_.close(ignored);
    else
        socket_.cancel(ignored);
}

asio::awaitable<void> connection::serve() {
    const verdict how = co_await read_header();
    ++counts_.of(how);
    if (how != verdict::gone) co_await answer(answer_for(how));
    close();
}

void connection::close() {
    std::error_code ignored;
    socket_.close(ignored);
}

// 0: the time is up, or the client has gone.
asio::awaitable<std::size_t> connection::read_piece() {
    const auto room = asio::buffer(data_) + size_;
    std::error_code ec;
    std::size_t bytes = co_await socket_.async_read_some(room, redirect_error(use_awaitable, ec));
    // What has arrived already is not late, for it may have waited for us: this process was busy, or suspended.
    if (ec == asio::error::operation_aborted && timer_.fired() && socket_.available(ec) > 0)
        bytes = socket_.read_some(room, ec);
    size_ += bytes;
    counts_.pieces += bytes > 0 ? 1 : 0;
    co_return bytes;
}

// Looks at each byte about once: a client that sends them one by one is not to cost more than others.
bool connection::header_is_complete() {
    constexpr std::string_view end = "\r\n\r\n";
    const bool found = std::string_view{data_.data(), size_}.find(end, scanned_) != std::string_view::npos;
    scanned_ = size_ - std::min(size_, end.size() - 1);
    return found;
}

asio::awaitable<void> connection::answer(std::string_view text) {
    timer_.close_at(clock::now() + goodbye_limit);
    std::error_code ec;
    co_await asio::async_write(socket_, asio::buffer(text), redirect_error(use_awaitable, ec));
    if (!ec) socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
    // Closed with bytes unread, the connection would be reset, and the answer perhaps lost.
    while (!ec) co_await socket_.async_read_some(asio::buffer(data_), redirect_error(use_awaitable, ec));
}

} // namespace guard
