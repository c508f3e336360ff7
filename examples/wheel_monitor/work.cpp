// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "work.hpp"

#include "support/spawned.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <thread>

namespace {

using namespace std::chrono_literals;
using asio::redirect_error;
using asio::use_awaitable;

constexpr int heartbeats = 50, subscribers = 5'000;
constexpr std::size_t uses_at_once = 100, requests_at_once = 10;

} // namespace

struct work::send_heartbeat {
    work& self;
    void operator()() const { self.server_.schedule(1s, *this); }
};

/// With --block, it reads a file inside the handler: the page and the probes have to find it.
struct work::reload_configuration {
    work& self;
    void operator()() const {
        std::this_thread::sleep_for(self.blocked_for_);
        self.server_.schedule(2s, *this);
    }
};

/// Another session takes its place.
struct work::expire_session {
    work& self;
    std::size_t number;
    void operator()() const { self.sessions_[number] = self.server_.schedule(self.between(1'000, 60'000), *this); }
};

/// Short ones and long ones.
struct work::renew_subscription {
    work& self;
    void operator()() const {
        constexpr int longest_exponent = 31; // 2^31 ms: 25 days
        const int exponent = std::uniform_int_distribution{8, longest_exponent}(self.random_);
        self.subscriptions_.schedule(1ms * (std::int64_t{1} << exponent), *this);
    }
};

void work::start() {
    for (std::size_t i = 0; i < sessions_.size(); ++i) expire_session{*this, i}();
    for (int i = 0; i < heartbeats; ++i) server_.schedule(between(0, 1'000), send_heartbeat{*this});
    for (int i = 0; i < subscribers; ++i) renew_subscription{*this}();
    if (blocked_for_.count() != 0) server_.schedule(1s, reload_configuration{*this});
    asio::co_spawn(io_, use_sessions(), rethrow);
    asio::co_spawn(io_, make_requests(), rethrow);
}

/// Each use moves the end of the session: a store.
asio::awaitable<void> work::use_sessions() {
    for (std::error_code ec; !ec;) {
        for (std::size_t i = 0; i < uses_at_once; ++i) {
            const std::size_t number = std::uniform_int_distribution<std::size_t>{0, sessions_.size() - 1}(random_);
            sessions_[number].reschedule(60s);
        }
        co_await server_.async_wait(10ms, redirect_error(use_awaitable, ec));
    }
}

asio::awaitable<void> work::make_requests() {
    for (std::error_code ec; !ec;) {
        for (std::size_t i = 0; i < requests_at_once; ++i) asio::co_spawn(io_, request(), rethrow);
        co_await server_.async_wait(20ms, redirect_error(use_awaitable, ec));
    }
}

/// An answer takes 10 to 110 ms, and the timeout is 100 ms.
asio::awaitable<void> work::request() {
    std::error_code ec;
    const auto token = redirect_error(use_awaitable, ec);
    co_await server_.async_wait(between(10, 110), cogwheel::timeout(server_, 100ms, token));
}
