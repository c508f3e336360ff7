// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One hashed wheel on an existing execution context, driven by one asio timer: hundreds of thousands of timers arrive as
// completion handlers, and cancelling one is O(1).
//
// - Never early; at most one tick late, plus the loop's own delay. Earlier ticks before later ones.
// - Each accepted wait completes exactly once. pending() is exact on every path.
// - No thread, no wake-up when nothing is due, bounded turns; an empty wheel lets run() return at once.
// timer_wheel may be used from any thread, local_timer_wheel from one thread or strand, and takes no lock.
// The semantics are those of Netty's HashedWheelTimer where it has any (docs/guarantees.md tells where ours are stricter).
#pragma once

#include <cogwheel/asio/detail/wheel_service.hpp>
#include <cogwheel/asio/locking.hpp>
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/async_result.hpp>
#include <asio/execution/context.hpp>
#include <asio/query.hpp>

#include <concepts>

namespace cogwheel {

/// How coarse a timer may be: it expires up to so much later.
struct slack_class {
    std::chrono::nanoseconds grain; ///< of the wheel's time, rounded up to whole ticks; at most a tick: exact
};

namespace detail {

/// For what stands on a wheel beside its timer_wheel: timer objects, adapters.
struct state_of {
    template <class Wheel>
    static auto& get(const Wheel& wheel) noexcept {
        return wheel.body();
    }
};

} // namespace detail

template <class Clock, class Locking, timing_wheel Wheel = hashed_wheel, class Executor = asio::any_io_executor>
class basic_timer_wheel {
    using state = detail::wheel_state<Clock, Locking, Wheel>;
    using service = detail::wheel_service<state>;
    using from_now = typename state::from_now;

    template <class, class, timing_wheel, class>
    friend class basic_timer_wheel;
    friend struct detail::state_of;

public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using token_type = basic_timer_token<Clock>;

    /// The same wheel with another executor type (asio: as_default_on, default completion tokens).
    template <class Other>
    struct rebind_executor {
        using other = basic_timer_wheel<Clock, Locking, Wheel, Other>;
    };

    /// Attaches a wheel to an executor: turns run there.
    /// Errors: std::invalid_argument (options, see wheel_options), std::bad_alloc. Thread safety: any thread, also while the
    /// context runs.
    explicit basic_timer_wheel(const Executor& executor, const wheel_options& options = {}) : executor_(executor) {
        options.validate(levelled_wheel<Wheel>);
        state& s = asio::use_service<service>(context_of(executor)).acquire(executor);
        s.open(executor, options);
        state_ = &s;
    }

    /// The same with the executor of a context, which must outlive the wheel.
    template <class Context>
        requires std::derived_from<Context, asio::execution_context> &&
                 std::constructible_from<Executor, typename Context::executor_type>
    explicit basic_timer_wheel(Context& context, const wheel_options& options = {})
        : basic_timer_wheel(Executor(context.get_executor()), options) {}

    /// Takes the timers over; `other` may only be destroyed or assigned to.
    basic_timer_wheel(basic_timer_wheel&& other) noexcept
        : state_(std::exchange(other.state_, nullptr)), executor_(std::move(other.executor_)) {}
    template <class Other>
        requires std::constructible_from<Executor, Other>
    basic_timer_wheel(basic_timer_wheel<Clock, Locking, Wheel, Other>&& other)
        : state_(std::exchange(other.state_, nullptr)), executor_(std::move(other.executor_)) {}
    basic_timer_wheel& operator=(basic_timer_wheel&& other) noexcept {
        if (this != &other) {
            if (state_ != nullptr) state_->close();
            state_ = std::exchange(other.state_, nullptr);
            executor_ = std::move(other.executor_);
        }
        return *this;
    }

    /// As stop(): what is pending completes with asio::error::operation_aborted. Legal inside a handler.
    ~basic_timer_wheel() {
        if (state_ != nullptr) state_->close();
    }

    executor_type get_executor() const noexcept { return executor_; }

    /// Completes after `delay`.
    /// Completion signature: void(std::error_code): success; asio::error::operation_aborted when cancelled;
    ///   errc::too_many_timers, errc::stopped when the wheel takes no timer. Never completes inline.
    /// Cancellation: terminal, partial and total, through the handler's slot; O(1).
    /// Executor: the handler's associated one, else the wheel's. Memory: the wheel's pool, or the handler's associated
    ///   allocator; free again before the handler runs.
    /// Complexity: O(1). Thread safety: the policy's. Errors: std::bad_alloc.
    template <class Rep, class Period, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(std::chrono::duration<Rep, Period> delay, Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code)>(initiate_wait(*this), token, saturate_to_ns(delay));
    }

    /// The same with a point in time; a past one completes in the next turn, or at the end of the present tick.
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait_until(time_point at, Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code)>(initiate_wait(*this), token, at);
    }

    /// Runs `f()` after `delay`, unless the token cancels it first, of which nobody is told: Netty's newTimeout.
    /// The empty token when the wheel takes no timer; the last argument tells why (errc).
    /// f runs in the wheel's turn, or by asio::dispatch on its own associated executor. Moving f must not use the wheel.
    /// Complexity: O(1) and a clock reading. Errors: std::bad_alloc.
    template <class Rep, class Period, std::invocable F>
    token_type schedule(std::chrono::duration<Rep, Period> delay, F&& f) {
        std::error_code ignored;
        return schedule(delay, std::forward<F>(f), ignored);
    }
    template <class Rep, class Period, std::invocable F>
    token_type schedule(std::chrono::duration<Rep, Period> delay, F&& f, std::error_code& ec) {
        return schedule(delay, std::forward<F>(f), detail::no_callable(), ec);
    }

    /// The same with a clock reading that the caller has at hand: reading the clock is most of the cost.
    template <class Rep, class Period, std::invocable F>
    token_type schedule(std::chrono::duration<Rep, Period> delay, time_point now, F&& f) {
        std::error_code ignored;
        state& s = body();
        return s.schedule(from_now{saturate_to_ns(delay), now}, std::forward<F>(f), detail::no_callable(), ignored);
    }

    /// The same; a cancel (by token, cancel_all(), stop(), the wheel's end) posts `on_cancel()`.
    template <class Rep, class Period, std::invocable F, std::invocable OnCancel>
    token_type schedule(std::chrono::duration<Rep, Period> delay, F&& f, OnCancel&& on_cancel) {
        std::error_code ignored;
        return schedule(delay, std::forward<F>(f), std::forward<OnCancel>(on_cancel), ignored);
    }
    template <class Rep, class Period, std::invocable F, std::invocable OnCancel>
    token_type schedule(std::chrono::duration<Rep, Period> delay, F&& f, OnCancel&& on_cancel, std::error_code& ec) {
        state& s = body();
        return s.schedule(from_now{saturate_to_ns(delay), Clock::now()}, std::forward<F>(f),
                          std::forward<OnCancel>(on_cancel), ec);
    }

    /// The same with a point in time.
    template <std::invocable F>
    token_type schedule_at(time_point at, F&& f) {
        std::error_code ignored;
        return schedule_at(at, std::forward<F>(f), detail::no_callable(), ignored);
    }
    template <std::invocable F, std::invocable OnCancel>
    token_type schedule_at(time_point at, F&& f, OnCancel&& on_cancel) {
        std::error_code ignored;
        return schedule_at(at, std::forward<F>(f), std::forward<OnCancel>(on_cancel), ignored);
    }
    template <std::invocable F, std::invocable OnCancel>
    token_type schedule_at(time_point at, F&& f, OnCancel&& on_cancel, std::error_code& ec) {
        state& s = body();
        return s.schedule(at, std::forward<F>(f), std::forward<OnCancel>(on_cancel), ec);
    }

    /// Runs `f()` at some moment from `earliest` to `latest` from now: one at which the wheel is awake for another timer, if there is one, else
    /// one that others choose as well. For timers that need not be exact: fewer wake-ups. Never before `earliest`; a range shorter than a
    /// tick is one tick. All else as schedule(). Complexity: O(slots of the range / 64 + occupied ones) and a clock reading.
    template <class Rep1, class Period1, class Rep2, class Period2, std::invocable F>
    token_type schedule_in_range(std::chrono::duration<Rep1, Period1> earliest,
                                 std::chrono::duration<Rep2, Period2> latest, F&& f) {
        std::error_code ignored;
        const time_point now = Clock::now();
        return body().schedule(
            detail::within<Clock>{detail::point_after(now, earliest), detail::point_after(now, latest)},
            std::forward<F>(f), detail::no_callable(), ignored);
    }

    /// Runs `f()` after `delay`, rounded up to a multiple of the class's grain: all timers of one class that are due within a grain cost
    /// one wake-up. Complexity: O(1) and a clock reading.
    template <class Rep, class Period, std::invocable F>
    token_type schedule(std::chrono::duration<Rep, Period> delay, slack_class slack, F&& f) {
        std::error_code ignored;
        return body().schedule(detail::rounded<Clock>{{saturate_to_ns(delay), Clock::now()}, slack.grain},
                               std::forward<F>(f), detail::no_callable(), ignored);
    }

    /// Timers pending, exact.
    std::size_t pending() const { return body().pending(); }

    /// Cancels all: waits complete with operation_aborted. Returns how many. O(largest number ever pending).
    std::size_t cancel_all() { return body().cancel_all(); }

    /// Gives memory that no timer uses back to the system, as after a burst: else the wheel keeps what it needed once. Timers that are
    /// pending and tokens, stale ones too, are as before. False: a timer is due and has not fired yet, and nothing was done.
    /// Complexity: O(largest number ever pending), under the wheel's lock. Where it cannot be given back (not Linux), it stays.
    bool trim() { return body().trim(); }

    /// cancel_all(), and takes no more timers: later ones are answered with errc::stopped. Callable anywhere, also inside a
    /// handler; never blocks. `visit(time_point expiry)` is called for each timer dropped, in no order.
    std::size_t stop() { return body().stop(); }
    template <std::invocable<time_point> Visitor>
    std::size_t stop(Visitor visit) {
        return body().stop(std::move(visit));
    }

    /// A snapshot. O(1), but some microseconds for the quantiles.
    wheel_stats stats() const { return body().stats(); }

private:
    class initiate_wait {
    public:
        using executor_type = Executor;

        explicit initiate_wait(const basic_timer_wheel& wheel) : state_(&wheel.body()), executor_(wheel.executor_) {}
        executor_type get_executor() const noexcept { return executor_; }

        template <class Handler>
        void operator()(Handler&& handler, std::chrono::nanoseconds delay) const {
            state_->start_wait(std::forward<Handler>(handler), from_now{delay, Clock::now()});
        }
        template <class Handler>
        void operator()(Handler&& handler, time_point at) const {
            state_->start_wait(std::forward<Handler>(handler), at);
        }

    private:
        state* state_;
        executor_type executor_;
    };

    static asio::execution_context& context_of(const Executor& executor) {
        if constexpr (asio::can_query<const Executor&, asio::execution::context_t>::value)
            return asio::query(executor, asio::execution::context);
        else
            return executor.context();
    }

    state& body() const noexcept {
        assert(state_ != nullptr && "a moved-from wheel may only be destroyed or assigned to");
        return *state_;
    }

    state* state_ = nullptr;
    Executor executor_;
};

/// For any thread.
using timer_wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded>;

/// For one thread, or one strand.
using local_timer_wheel = basic_timer_wheel<std::chrono::steady_clock, single_threaded>;

} // namespace cogwheel
