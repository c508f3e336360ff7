// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The echo coroutine and its two limits.

#include "connection.hpp"

#include <asio/bind_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

namespace echo {
namespace {

/// Cancels on every way out of a scope. A timer's callable holds the connection: a forgotten one would keep it.
struct cancel_at_exit {
    const cogwheel::timer_token& token;
    ~cancel_at_exit() { token.cancel(); }
};

} // namespace

asio::awaitable<void> connection::serve(std::shared_ptr<connection>) {
    const cancel_at_exit idle_guard{idle_timer_};
    last_activity_ = clock::now();
    schedule_idle(last_activity_ + limits_.idle);

    for (;;) {
        std::error_code ec;
        const std::size_t size =
            co_await socket_.async_read_some(asio::buffer(data_), asio::redirect_error(asio::use_awaitable, ec));
        if (ec) break;
        touch();
        if (!co_await echo(size)) break;
    }
    close();
}

asio::awaitable<bool> connection::echo(std::size_t size) {
    const std::uint64_t write = ++writes_;
    const cogwheel::timer_token limit = wheel_.schedule(
        limits_.write_timeout, last_activity_,
        asio::bind_executor(get_executor(), [self = shared_from_this(), write] { self->on_write_limit(write); }));
    const cancel_at_exit limit_guard{limit};

    // Piece by piece: a slow reader is not an idle one.
    for (std::size_t sent = 0; sent < size;) {
        std::error_code ec;
        sent += co_await socket_.async_write_some(asio::buffer(data_.data() + sent, size - sent),
                                                  asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return false;
        touch();
    }
    ++writes_;
    counts_.echoed(size);
    co_return true;
}

void connection::schedule_idle(clock::time_point deadline) {
    idle_timer_ = wheel_.schedule_at(
        deadline, asio::bind_executor(get_executor(), [self = shared_from_this()] { self->on_idle(); }));
}

void connection::touch() {
    last_activity_ = clock::now();
    // False where the timer has just fired in another thread: on_idle() is under way then, and looks at the stamp.
    idle_timer_.reschedule(limits_.idle, last_activity_);
}

void connection::on_idle() {
    if (!socket_.is_open()) return;

    const auto deadline = last_activity_ + limits_.idle;
    const auto now = clock::now();
    if (now < deadline) {
        schedule_idle(deadline);
        return;
    }

    // Bytes that have arrived but were not read yet, because the process was stopped or starved, are no idleness.
    // (Not while a write is outstanding: nobody reads then.)
    std::error_code ec;
    if (writes_ % 2 == 0 && socket_.available(ec) > 0) {
        schedule_idle(now + limits_.idle);
        return;
    }

    close();
    counts_.kicked(kick_reason::idle, clock::now() - deadline);
}

void connection::on_write_limit(std::uint64_t write) {
    if (!socket_.is_open() || write != writes_) return;
    close();
    counts_.kicked(kick_reason::peer_does_not_read, {});
}

void connection::close() {
    std::error_code ignored;
    socket_.close(ignored);
}

} // namespace echo
