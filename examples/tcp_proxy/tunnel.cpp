// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Two pumps and one idle monitor. What has been read is written before more is read: a peer that reads slowly slows the
// other one down, and a tunnel never holds more than two buffers.

#include "tunnel.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <array>

namespace tcp_proxy {

using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;

asio::awaitable<ending> tunnel::run(const std::string& host, const std::string& service) {
    using namespace asio::experimental::awaitable_operators;
    error_ = co_await connect(host, service);
    if (!error_) {
        // Traffic in one direction keeps both alive.
        cogwheel::idle_monitor idle{wheel_, client_.get_executor(), {.all = limits_.idle}};
        const auto first =
            co_await ((pump(client_, target_, to_target_, idle) && pump(target_, client_, to_client_, idle)) ||
                      idle.async_idle(use_awaitable)); // the other one is cancelled, and awaited
        if (first.index() == 1) ending_ = ending::idle;
    } else if (!closed_) {
        ending_ = ending::unreachable;
    }
    close();
    co_return ending_;
}

// One limit for both steps. The system's resolver cannot be interrupted, so it is abandoned.
asio::awaitable<std::error_code> tunnel::connect(const std::string& host, const std::string& service) {
    const cogwheel::timeout_scope within{wheel_, limits_.connect};
    std::error_code ec;
    tcp::resolver resolver{client_.get_executor()};
    const auto found = co_await resolver.async_resolve(
        host, service,
        cogwheel::abandon(wheel_, within.remaining(),
                          asio::bind_cancellation_slot(resolving_.slot(), redirect_error(use_awaitable, ec))));
    if (closed_) co_return asio::error::operation_aborted;
    if (!ec) co_await asio::async_connect(target_, found, within(redirect_error(use_awaitable, ec)));
    co_return ec;
}

asio::awaitable<void> tunnel::pump(tcp::socket& from, tcp::socket& to, writer& out,
                                   cogwheel::idle_monitor<cogwheel::local_timer_wheel>& idle) {
    std::array<char, 16 * 1024> data; // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    for (std::error_code ec;;) {
        const std::size_t size = co_await from.async_read_some(asio::buffer(data), redirect_error(use_awaitable, ec));
        if (ec == asio::error::eof) { // of this direction: the other one goes on
            to.shutdown(tcp::socket::shutdown_send, ec);
            co_return;
        }
        if (!ec) {
            idle.touch_read();
            ec = co_await out.write(asio::buffer(data, size));
            idle.touch_write();
        }
        if (ec) {
            if (!closed_) ending_ = to_client_.gave_up() || to_target_.gave_up() ? ending::stuck : ending::broken;
            close(); // and so the other pump ends
            co_return;
        }
        bytes_ += size;
    }
}

void tunnel::cut() noexcept {
    ending_ = ending::cut;
    close();
}

void tunnel::close() noexcept {
    closed_ = true;
    resolving_.emit(asio::cancellation_type::terminal);
    std::error_code ignored;
    client_.close(ignored);
    target_.close(ignored);
}

} // namespace tcp_proxy
