// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Ticks once each period. The caller waits for each tick:
//
//     cogwheel::interval every(wheel, {.period = 10s});
//     for (;;) {
//         co_await every.async_tick(asio::use_awaitable);
//         co_await flush();
//     }
//
// - By default there is no drift: ticks are due at first + n x period, even after late ticks. Never early; an awaited
//   tick comes at most one tick of the wheel late, plus its jitter and the delay of the loop.
// - interval_misfire says what follows a tick that came too late. The default is skip.
// - The interval has one timer, and only while an async_tick() is pending.
#pragma once

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/schedule/detail/due_at.hpp>
#include <cogwheel/schedule/detail/interval_handler.hpp>

#include <memory>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A periodic timer. One async_tick() at a time. As a class member, write interval<>, or interval<local_timer_wheel>.
/// Thread safety: one thread or strand at a time. The handlers of async_tick() must run on it too.
template <any_timer_wheel Wheel = timer_wheel>
class interval {
    using impl = detail::interval_impl<Wheel>;

public:
    using executor_type = typename Wheel::executor_type;
    using clock_type = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;

    template <class Other>
    struct rebind_executor {
        using other = interval<typename Wheel::template rebind_executor<Other>::other>;
    };

    /// Starts the interval now: the first tick is due after first_delay. No tick is due after `end`.
    /// Errors: std::invalid_argument (options), std::bad_alloc.
    /// Lifetime: the wheel may be destroyed before the interval. A pending tick then completes with operation_aborted,
    ///   later ones with errc::stopped. The wheel's execution context must outlive the interval.
    interval(const Wheel& wheel, const interval_options& options, time_point end = time_point::max())
        : impl_((options.validate(), std::make_shared<impl>(wheel, options, end))) {}

    /// Does the same, but the first tick is due at `first`. If that is past, the first async_tick() completes at once,
    /// and the ticks between count as late (see interval_misfire). Errors: also if the options have a first_delay.
    interval(const Wheel& wheel, time_point first, const interval_options& options, time_point end = time_point::max())
        : impl_((options.validate(true), std::make_shared<impl>(wheel, options, end))) {
        reset(first);
    }

    interval(interval&&) noexcept = default;
    interval& operator=(interval&& other) noexcept {
        if (this != &other) {
            close();
            impl_ = std::move(other.impl_);
        }
        return *this;
    }

    /// Cancels a pending tick, which completes with operation_aborted; without memory for that, when it is due.
    ~interval() { close(); }

    executor_type get_executor() const noexcept { return impl_->timer.get_executor(); }

    /// Waits for the next tick. If due, it comes in the next turn or at the end of the present tick, never inline.
    /// Completion signature: void(std::error_code, time_point). The second is when the tick was due, without jitter;
    ///   time_point() on errors.
    ///   asio::error::eof: there are no more ticks (interval_options::times, or `end` of the constructor).
    ///   asio::error::already_started: another async_tick() is pending. This call does not affect it.
    ///   asio::error::operation_aborted: the wait was cancelled by cancel(), by a cancellation slot, by the destructor,
    ///   or by the wheel. The next call waits for the same tick; a fixed delay starts anew.
    ///   errc::stopped, errc::too_many_timers: the wheel takes no timer.
    /// Cancellation: terminal, partial and total; O(1).
    /// Executor: the handler's associated one, else the wheel's. Memory: as timer_wheel::async_wait().
    /// Complexity: O(1).
    /// Errors: std::bad_alloc; the next call waits for the same tick.
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_tick(Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code, time_point)>(initiate_tick(impl_), token);
    }

    /// Cancels a pending tick, which completes with operation_aborted. Returns false if no tick is pending, or if it
    /// has already expired. Errors: std::bad_alloc; nothing changes then.
    bool cancel() { return impl_->timer.cancel() != 0; }

    /// Makes the next tick due one period from now; later ticks count from it. Moves a pending tick, too, unless it has
    /// already expired: then that tick comes first. count() and missed() stay. If the next tick is then due after the
    /// interval's end, a pending one completes with asio::error::eof.
    /// Complexity: O(1). Errors: std::bad_alloc; nothing changes then.
    void reset() { reset(impl_->machine.period()); }
    /// Does the same with another delay to the next tick (zero or less: now), or with its point in time.
    template <detail::when<clock_type> When>
    void reset(When first) {
        impl_->reset(detail::due_at<clock_type>(first));
    }

    /// Returns the number of ticks that have completed with success.
    std::uint64_t count() const noexcept { return impl_->machine.count(); }

    /// Returns how many ticks interval_misfire::skip or delay has left out.
    std::uint64_t missed() const noexcept { return impl_->machine.missed(); }

private:
    class initiate_tick {
    public:
        using executor_type = typename Wheel::executor_type;

        explicit initiate_tick(std::shared_ptr<impl> b) noexcept : impl_(std::move(b)) {}
        executor_type get_executor() const noexcept { return impl_->timer.get_executor(); }

        template <class Handler>
        void operator()(Handler&& handler) {
            impl::start(impl_, std::forward<Handler>(handler));
        }

    private:
        std::shared_ptr<impl> impl_;
    };

    void close() noexcept {
        if (impl_ == nullptr) return;
        COGWHEEL_TRY { impl_->timer.cancel(); }
        COGWHEEL_CATCH {
            // No memory to post the abort: the tick completes when it is due.
        }
    }

    std::shared_ptr<impl> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
