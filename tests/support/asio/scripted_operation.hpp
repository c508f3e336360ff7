// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An asynchronous operation that does what the test says: it completes when it is told to, and writes down how it was
// cancelled. Beside it, what a test of limits needs to run one: a context and a wheel in virtual time.
#pragma once

#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/dispatch.hpp>

#include <functional>
#include <memory>
#include <tuple>
#include <vector>

namespace cogwheel_tests {

template <class Signature>
class scripted_operation;

template <class... Args>
class scripted_operation<void(Args...)> {
    struct completion;
    struct waiting {
        virtual ~waiting() = default;
        virtual void dispatch(const asio::any_io_executor&, completion) = 0;
        virtual void complete_here(std::tuple<Args...>) = 0;
    };
    using waiting_ptr = std::unique_ptr<waiting>;
    // On its way to the handler's executor. It does not name the handler's type: executors are compiled once for all.
    struct completion {
        waiting_ptr handler;
        std::tuple<Args...> args;
        void operator()() { handler->complete_here(std::move(args)); }
    };

public:
    explicit scripted_operation(const asio::any_io_executor& executor) : executor_(executor) {}

    template <class Token>
    auto async_run(Token&& token) {
        return asio::async_initiate<Token, void(Args...)>(initiate{this}, token);
    }

    /// As if by asio::dispatch on the handler's executor.
    void complete(Args... args) {
        waiting& handler = *waiting_;
        handler.dispatch(executor_, {std::move(waiting_), std::tuple<Args...>(std::move(args)...)});
    }
    /// At once, in this thread: as one of several threads of the handler's executor may.
    void complete_here(Args... args) {
        const auto handler = std::move(waiting_);
        handler->complete_here(std::tuple<Args...>(std::move(args)...));
    }
    /// The handler is destroyed, and never called.
    void drop() { waiting_.reset(); }

    bool pending() const { return waiting_ != nullptr; }

    int started = 0;
    std::vector<asio::cancellation_type> cancelled; ///< each emission that arrived
    std::function<void()> on_start;                 ///< the end of the initiating function
    std::function<void(asio::cancellation_type)> on_cancel;

private:
    template <class Handler>
    struct waiting_handler final : waiting {
        Handler handler;

        template <class H>
        explicit waiting_handler(H&& h) : handler(std::forward<H>(h)) {}
        void dispatch(const asio::any_io_executor& executor, completion c) override {
            const auto at = asio::get_associated_executor(handler, executor);
            asio::dispatch(at, std::move(c));
        }
        void complete_here(std::tuple<Args...> args) override { std::apply(std::move(handler), std::move(args)); }
    };

    struct initiate {
        using executor_type = asio::any_io_executor;
        scripted_operation* self;

        executor_type get_executor() const noexcept { return self->executor_; }
        template <class Handler>
        void operator()(Handler&& handler) const {
            ++self->started;
            auto slot = asio::get_associated_cancellation_slot(handler);
            if (slot.is_connected())
                slot.assign([s = self](asio::cancellation_type type) {
                    s->cancelled.push_back(type);
                    if (s->on_cancel) s->on_cancel(type);
                });
            // Not by make_unique: that is one more type for each handler, which takes long to compile.
            self->waiting_.reset(new waiting_handler<std::decay_t<Handler>>(std::forward<Handler>(handler)));
            if (self->on_start) self->on_start();
        }
    };

    asio::any_io_executor executor_;
    waiting_ptr waiting_;
};

/// A read, as it were.
using scripted_read = scripted_operation<void(std::error_code, std::size_t)>;

/// What async_retry and async_hedge are given: starts the read that `which` names, or throws what that throws. One type
/// for all tests, so that its operations are compiled once.
template <class Attempt>
struct reading {
    std::function<scripted_read&(Attempt&)> which;

    template <class Token>
    auto operator()(Attempt& attempt, Token token) {
        return which(attempt).async_run(std::move(token));
    }
};

template <class Wheel>
struct timeout_rig {
    asio::io_context io;
    Wheel wheel;
    scripted_read read;

    explicit timeout_rig(const cogwheel::wheel_options& options = {}) : wheel(io, options), read(io.get_executor()) {
        read.on_cancel = [this](asio::cancellation_type) {
            if (read.pending()) read.complete(asio::error::operation_aborted, 0);
        };
    }

    /// From here on the operation does not heed cancellation.
    void be_deaf() { read.on_cancel = nullptr; }
    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

/// What a read completed with, and how often.
struct read_result {
    std::error_code ec;
    std::size_t bytes = 0;
    int times = 0;

    auto handler() {
        return [this](std::error_code e, std::size_t n) {
            ec = e;
            bytes = n;
            ++times;
        };
    }
};

} // namespace cogwheel_tests

// The types of a TEST_CASE_TEMPLATE.
#ifdef __SANITIZE_THREAD__
#define BOTH_WHEELS cogwheel::testing::manual_timer_wheel // the thread sanitizer sees nothing in a wheel for one thread
#else
#define BOTH_WHEELS cogwheel::testing::manual_timer_wheel, cogwheel_tests::manual_local_timer_wheel
#endif
