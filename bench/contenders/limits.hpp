// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A limit of 5 s on an operation that completes at once: posted, and done. Whoever completes starts the next.
//
// Each way has a baseline, the same operation without a limit: awaited by a coroutine, or completing into a handler.
#pragma once

#include "contenders/asio_loop.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 103100
#include <asio/cancel_after.hpp>
#endif

namespace bench {

class ready_operation {
public:
    using executor_type = asio::io_context::executor_type;

    explicit ready_operation(asio::io_context& io) noexcept : io_(&io) {}
    executor_type get_executor() const noexcept { return io_->get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) const {
        asio::post(*io_, [h = std::forward<Handler>(handler)]() mutable { std::move(h)(std::error_code()); });
    }

private:
    asio::io_context* io_;
};

/// Keeps so many operations in flight, and counts.
class limit_loop {
public:
    /// Until so many more have completed.
    void run(std::uint64_t operations) {
        goal_ = done_ + operations;
        io_.restart();
        io_.run();
    }
    std::uint64_t errors() const noexcept { return errors_; }

protected:
    template <class Token>
    auto ready(Token&& token) {
        return asio::async_initiate<Token, void(std::error_code)>(ready_operation(io_), token);
    }
    void note(const std::error_code& ec) {
        errors_ += ec ? 1U : 0U;
        if (++done_ == goal_) io_.stop();
    }

    asio::io_context io_{1};

private:
    std::uint64_t done_ = 0, goal_ = 0, errors_ = 0;
};

/// How: start(handler) starts an operation.
template <class How>
class chains : public limit_loop {
public:
    static constexpr std::string_view name = How::name;

    void launch(std::size_t in_flight) {
        for (std::size_t i = 0; i < in_flight; ++i) start();
    }

private:
    struct again {
        chains* self;

        void operator()(const std::error_code& ec) const {
            self->note(ec);
            self->start();
        }
    };
    void start() {
        how_.start([this](auto&& token) { this->ready(std::forward<decltype(token)>(token)); }, again{this});
    }

    How how_{io_};
};

struct bare {
    static constexpr std::string_view name = "bare operation";
    explicit bare(asio::io_context&) {}

    template <class Ready, class Handler>
    void start(Ready ready, Handler handler) {
        ready(handler);
    }
};

template <class Wheel>
struct limited {
    static constexpr std::string_view name =
        std::is_same_v<Wheel, cogwheel::timer_wheel> ? "cogwheel timeout_after" : "cogwheel timeout_after, local";
    explicit limited(asio::io_context& io) : wheel(io) {}

    template <class Ready, class Handler>
    void start(Ready ready, Handler handler) {
        ready(cogwheel::timeout(wheel, std::chrono::seconds(5), handler));
    }
    Wheel wheel;
};

/// The wheel of the context, found at each operation.
struct limited_by_context {
    static constexpr std::string_view name = "cogwheel timeout_after, context's wheel";
    explicit limited_by_context(asio::io_context&) {}

    template <class Ready, class Handler>
    void start(Ready ready, Handler handler) {
        ready(cogwheel::timeout(std::chrono::seconds(5), handler));
    }
};

#if ASIO_VERSION >= 103100
struct asio_cancel_after {
    static constexpr std::string_view name = "asio::cancel_after";
    explicit asio_cancel_after(asio::io_context&) {}

    template <class Ready, class Handler>
    void start(Ready ready, Handler handler) {
        ready(asio::timeout(std::chrono::seconds(5), {.own_error = true}, handler));
    }
};
#endif

// ---- awaited ----

/// How: await(ready) awaits an operation.
template <class How>
class coroutines : public limit_loop {
public:
    static constexpr std::string_view name = How::name;

    void launch(std::size_t in_flight) {
        for (std::size_t i = 0; i < in_flight; ++i) asio::co_spawn(io_, repeat(), asio::detached);
    }

private:
    asio::awaitable<void> repeat() {
        typename How::each own(io_);
        for (;;) {
            co_await how_.await(own,
                                [this](auto&& token) { return this->ready(std::forward<decltype(token)>(token)); });
            note({});
        }
    }

    How how_{io_};
};

struct nothing {
    explicit nothing(asio::io_context&) {}
};

struct bare_awaited {
    static constexpr std::string_view name = "bare, awaited";
    using each = nothing;
    explicit bare_awaited(asio::io_context&) {}

    template <class Ready>
    auto await(each&, Ready ready) {
        return ready(asio::use_awaitable);
    }
};

struct limited_awaited {
    static constexpr std::string_view name = "cogwheel timeout_after, awaited";
    using each = nothing;
    explicit limited_awaited(asio::io_context& io) : wheel(io) {}

    template <class Ready>
    auto await(each&, Ready ready) {
        return ready(cogwheel::timeout(wheel, std::chrono::seconds(5), asio::use_awaitable));
    }
    cogwheel::timer_wheel wheel;
};

struct operation_or_timer {
    static constexpr std::string_view name = "operation || timer, awaited";
    using each = asio::steady_timer;
    explicit operation_or_timer(asio::io_context&) {}

    template <class Ready>
    auto await(each& timer, Ready ready) {
        using namespace asio::experimental::awaitable_operators;
        timer.expires_after(std::chrono::seconds(5));
        return ready(asio::use_awaitable) || timer.async_wait(asio::use_awaitable);
    }
};

} // namespace bench
