// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "session.hpp"

#include <asio/redirect_error.hpp>

#include <algorithm>

#include <poll.h>

namespace rpc {
namespace {

using namespace std::chrono_literals;

// Its last byte may come after many that are not read: so it is no use to wait for something to read.
bool has_left(tcp::socket& socket) {
    pollfd peer{socket.native_handle(), POLLRDHUP, 0};
    return ::poll(&peer, 1, 0) > 0;
}

} // namespace

session::session(cogwheel::timer_wheel& wheel, const server_options& limits, load& all, statistics& counts,
                 std::mt19937_64& random, tcp::socket socket)
    : wheel_{wheel},
      limits_{limits},
      all_{all},
      counts_{counts},
      random_{random},
      channel_{std::make_shared<channel>(
          wheel, channel_limits{.idle{.reader = limits.idle}, .frame = limits.frame, .write = limits.write_timeout},
          std::move(socket))},
      gate_{std::make_shared<gate>(gate{cogwheel::wheel_timer{wheel}})} {}

session::~session() {
    for (pending& p : in_flight_) p.ready.cancel();
    channel_->close();
    all_.change(gate_, accounted_, {});
}

void session::prepare() {
    channel_->stream().close_when_idle([this](const cogwheel::idle_event&) { ++counts_.idle; });
    channel_->on_written([weak = weak_from_this()](std::error_code ec, const std::vector<std::uint64_t>& ids) {
        if (const auto self = weak.lock()) self->written(ec, ids.size());
    });
}

asio::awaitable<void> session::serve(std::shared_ptr<session>) {
    for (;;) {
        co_await room(); // for more of this client, and of all of them
        if (auto request = channel_->next_frame())
            handle(std::move(*request));
        else
            co_await channel_->read_more();
    }
}

/// Waits until there is room for more of this client.
asio::awaitable<void> session::room() {
    account();
    if (may_go_on()) co_return;
    channel_->stream().monitor().begin_read();
    while (!may_go_on()) {
        if (costs_too_much())
            channel_->restart_frame();
        else
            all_.queue(gate_);
        gate_->timer.expires_at(std::min(std::chrono::steady_clock::now() + 1s, channel_->frame_due().expiry()));
        std::error_code woken;
        co_await gate_->timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        if (!channel_->is_open() || has_left(channel_->stream().next_layer()))
            throw std::system_error(asio::error::eof);
        if (costs_too_much())
            all_.wake(); // the next one: there may have been room
        else if (channel_->frame_due()
                     .expired()) // many that have begun may take all the room, and none is ever complete
            throw std::system_error(asio::error::timed_out);
    }
    channel_->stream().monitor().end_read();
    all_.wake(); // it was for one
}

void session::handle(frame request) {
    if (draining_) return;
    if (request.what != kind::request) return channel_->send(kind::ping, 0, {});
    ++counts_.requests;
    in_flight_bytes_ += request.body.size();
    const place p = in_flight_.insert(in_flight_.end(), pending{std::move(request), {}});
    const std::chrono::nanoseconds delay{
        std::uniform_int_distribution<std::int64_t>{0, limits_.delay.count()}(random_)};
    p->ready = wheel_.schedule(delay, [this, p] { answer(p); });
}

void session::answer(place p) {
    try {
        channel_->send(kind::response, p->request.id, p->request.body);
    } catch (const std::bad_alloc&) {
        return close(); // the end of one client, and not of the server
    }
    in_flight_bytes_ -= p->request.body.size();
    in_flight_.erase(p);
    account();
    if (!costs_too_much()) gate_->timer.cancel();
}

void session::written(std::error_code ec, std::size_t answers) {
    if (!ec) counts_.answered += answers;
    account();
    gate_->timer.cancel();
    finish_if_drained();
}

void session::account() {
    const load::amount now{channel_->arrived() + in_flight_bytes_ + channel_->unsent(), in_flight_.size()};
    all_.change(gate_, std::exchange(accounted_, now), now);
}

void session::drain() {
    draining_ = true;
    gate_->timer.cancel();
    finish_if_drained();
}

// Closed with bytes unread, the connection would be reset, and answers perhaps lost: serve() reads on until the client
// hangs up.
void session::finish_if_drained() {
    if (!draining_ || !in_flight_.empty() || channel_->unsent() != 0) return;
    std::error_code ignored;
    channel_->stream().lowest_layer().shutdown(tcp::socket::shutdown_send, ignored);
}

void session::close() {
    channel_->close();
    gate_->timer.cancel();
}

} // namespace rpc
