// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A tick every period, to be awaited:
//
//     cogwheel::interval every(wheel, {.period = 10s});
//     for (;;) {
//         co_await every.async_tick(asio::use_awaitable);
//         co_await flush();
//     }
//
// - No drift: the n-th tick is due at first + n x period, whatever the earlier ones did. Never early, at most a tick of the wheel late.
// - What becomes of ticks that nobody was there for is said by missed_ticks (skip, unless told otherwise).
// - One timer while a tick is awaited, none otherwise: an interval that nobody awaits wakes nobody.
//
// For one thread or strand at a time, as a timer object; one async_tick() at a time.
#pragma once

#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/schedule/detail/interval_handler.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <memory>

namespace cogwheel {

template <any_timer_wheel Wheel>
class basic_interval {
    using body = detail::interval_body<Wheel>;

public:
    using executor_type = typename Wheel::executor_type;
    using clock_type = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;

    /// Counts from now on; no tick is later than `end`. Errors: std::invalid_argument (options), std::bad_alloc.
    /// Lifetime: the wheel may be destroyed before it: ticks then complete with errc::stopped. Its execution context may not.
    basic_interval(const Wheel& wheel, const interval_options& options, time_point end = time_point::max())
        : body_((options.validate(), std::make_shared<body>(wheel, options, end))) {}

    basic_interval(basic_interval&&) noexcept = default;
    basic_interval& operator=(basic_interval&& other) noexcept {
        if (this != &other) {
            close();
            body_ = std::move(other.body_);
        }
        return *this;
    }

    /// A tick that is awaited completes with operation_aborted.
    ~basic_interval() { close(); }

    executor_type get_executor() const noexcept { return body_->timer.get_executor(); }

    /// Waits for the next tick; at once, if it is past.
    /// Completion signature: void(std::error_code, time_point): success, and when the tick was due, jitter not counted.
    ///   asio::error::eof: there are no more (times, end). asio::error::already_started: another one is awaited, and goes on.
    ///   asio::error::operation_aborted: cancel(), a cancellation slot, the interval destroyed, the wheel stopped meanwhile; the tick
    ///   is still to come. errc::stopped, errc::too_many_timers: the wheel takes no timer. Never completes inline.
    /// Cancellation: terminal, partial and total; O(1).
    /// Executor: the handler's associated one, else the wheel's. Memory: as timer_wheel::async_wait().
    /// Complexity: O(1). Errors: std::bad_alloc; the tick is still to come.
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_tick(Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code, time_point)>(initiate_tick(body_), token);
    }

    /// The tick that is awaited completes with operation_aborted. False if none is.
    bool cancel() { return body_->timer.cancel() != 0; }

    /// Ticks that have come.
    std::uint64_t count() const noexcept { return body_->machine.count(); }

    /// Ticks that were skipped, or gone when the grid moved.
    std::uint64_t missed() const noexcept { return body_->machine.missed(); }

private:
    class initiate_tick {
    public:
        using executor_type = typename Wheel::executor_type;

        explicit initiate_tick(std::shared_ptr<body> b) noexcept : body_(std::move(b)) {}
        executor_type get_executor() const noexcept { return body_->timer.get_executor(); }

        template <class Handler>
        void operator()(Handler&& handler) {
            body::start(body_, std::forward<Handler>(handler));
        }

    private:
        std::shared_ptr<body> body_;
    };

    void close() noexcept {
        if (body_ == nullptr) return;
        COGWHEEL_TRY { body_->timer.cancel(); }
        COGWHEEL_CATCH {
            // No memory to post the abort: the tick completes when it is due.
        }
    }

    std::shared_ptr<body> body_;
};

/// On a timer_wheel.
using interval = basic_interval<timer_wheel>;

/// On a local_timer_wheel: for its one thread or strand.
using local_interval = basic_interval<local_timer_wheel>;

} // namespace cogwheel
