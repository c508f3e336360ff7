// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timing wheel on an existing execution context. One Asio timer, the driver, serves hundreds of thousands of timers.
// A timer completes waits, runs a callable or cancels an operation. To cancel a wait or a callable is O(1).
//
//     cogwheel::timer_wheel wheel{io};
//     wheel.async_wait(20ms, [](std::error_code ec) { ... });
//     cogwheel::timer_token idle = wheel.schedule(30s, [] { ... });
//     idle.cancel(); // O(1); the callable never runs
//
// - A timer never fires early. It fires at most one tick late, plus the delay of the loop.
// - Earlier ticks fire before later ones.
// - Each accepted wait completes exactly once, unless the execution context is destroyed first. pending() is exact.
// - The wheel has no thread. It plans wake-ups for due ticks only, and turns are bounded. docs/guarantees.md lists the
//   exceptions to both.
// - An empty wheel does not keep run() from returning.
// Several threads may use a timer_wheel. A local_timer_wheel is for one thread or one strand, and has no lock.
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

/// Marks the callable of schedule() that runs if the timer is cancelled instead of firing: by its token, by
/// cancel_all() or stop(), or by the wheel's destructor. A turn runs this callable, never the call that cancels.
/// Example: wheel.schedule(5s, [] { ... }, cogwheel::on_cancel([] { ... }));
template <std::invocable G>
struct on_cancel {
    G callable;

    explicit on_cancel(G g) : callable(std::move(g)) {}
};

namespace detail {

/// Returns the impl behind a wheel, for the other rooms (detail/on_wheel.hpp).
template <class Wheel>
auto& impl_of(const Wheel& wheel) noexcept {
    return wheel.impl();
}

/// Refers to the caller's error_code. If the caller gives none, it refers to one of its own, which is ignored.
class error_output {
public:
    error_output() noexcept : ec_(&unused_) {}
    error_output(std::error_code& ec) noexcept : ec_(&ec) {}
    error_output(const error_output&) = delete;
    error_output& operator=(const error_output&) = delete;
    std::error_code& get() const noexcept { return *ec_; }

private:
    std::error_code* ec_;
    std::error_code unused_;
};

} // namespace detail

/// The handle of a wheel. timer_wheel and local_timer_wheel name the usual types.
/// Clock: a std::chrono clock. Locking: multi_threaded or single_threaded. Wheel: hashed_wheel, hierarchical_wheel, or
/// a type of your own that models timing_wheel. Executor: as for asio::basic_waitable_timer.
/// Thread safety: as Locking says. Lifetime: the execution context must outlive the wheel.
template <class Clock, class Locking, timing_wheel Wheel = hashed_wheel, class Executor = asio::any_io_executor>
class basic_timer_wheel {
    using impl_type = detail::wheel_impl<Clock, Locking, Wheel>;
    using service = detail::wheel_service<impl_type>;
    using from_now = typename impl_type::from_now;

    template <class, class, timing_wheel, class>
    friend class basic_timer_wheel;
    template <class W>
    friend auto& detail::impl_of(const W&) noexcept;

public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using token_type = basic_timer_token<Clock>;

    /// The type of the same wheel with another executor type; Asio's as_default_on uses it.
    template <class Other>
    struct rebind_executor {
        using other = basic_timer_wheel<Clock, Locking, Wheel, Other>;
    };

    /// Makes a wheel whose turns run on `executor`.
    /// Errors: std::invalid_argument (options, see wheel_options), std::bad_alloc.
    /// Thread safety: any thread, also while the context runs.
    explicit basic_timer_wheel(const Executor& executor, const wheel_options& options = {}) : executor_(executor) {
        options.validate(levelled_wheel<Wheel>);
        impl_type& s = asio::use_service<service>(context_of(executor)).acquire(executor);
        s.open(executor, options);
        impl_ = &s;
    }

    /// The same with the executor of a context. Lifetime: the context must outlive the wheel.
    template <class Context>
        requires std::derived_from<Context, asio::execution_context> &&
                 std::constructible_from<Executor, typename Context::executor_type>
    explicit basic_timer_wheel(Context& context, const wheel_options& options = {})
        : basic_timer_wheel(Executor(context.get_executor()), options) {}

    /// Takes the timers over. After that `other` may only be destroyed or assigned to.
    basic_timer_wheel(basic_timer_wheel&& other) noexcept
        : impl_(std::exchange(other.impl_, nullptr)), executor_(std::move(other.executor_)) {}
    template <class Other>
        requires std::constructible_from<Executor, Other>
    basic_timer_wheel(basic_timer_wheel<Clock, Locking, Wheel, Other>&& other)
        : impl_(std::exchange(other.impl_, nullptr)), executor_(std::move(other.executor_)) {}
    /// Ends this wheel as the destructor does, then takes the timers of `other` over.
    basic_timer_wheel& operator=(basic_timer_wheel&& other) noexcept {
        if (this != &other) {
            if (impl_ != nullptr) impl_->close();
            impl_ = std::exchange(other.impl_, nullptr);
            executor_ = std::move(other.executor_);
        }
        return *this;
    }

    /// Cancels all pending timers as stop() does: later turns complete the waits with asio::error::operation_aborted.
    /// A handler may destroy the wheel.
    ~basic_timer_wheel() {
        if (impl_ != nullptr) impl_->close();
    }

    executor_type get_executor() const noexcept { return executor_; }

    /// Starts a wait that completes after `delay`; with a delay of zero or less, in the next turn.
    /// Effects: takes memory from the handler's associated allocator, else from the wheel's pool (large handlers: from
    ///   the heap). Frees it before the handler runs. Never completes inside this call.
    /// Completion signature: void(std::error_code): success; asio::error::operation_aborted if the wait was cancelled;
    ///   errc::too_many_timers or errc::stopped if the wheel refuses the timer.
    /// Cancellation: terminal, partial and total, through the handler's slot; O(1).
    /// Executor: the handler's associated one, else the wheel's.
    /// Complexity: O(1). Errors: std::bad_alloc; the handler is then destroyed. Thread safety: as Locking says.
    template <class Rep, class Period, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(std::chrono::duration<Rep, Period> delay, Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code)>(initiate_wait(*this), token, saturate_to_ns(delay));
    }

    /// The same with a point in time. For a past point, the wait completes in the next turn, or at the end of the
    /// present tick.
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait_until(time_point at, Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code)>(initiate_wait(*this), token, at);
    }

    /// Runs `f()` after `delay`, unless the timer is cancelled first; with a delay of zero or less, in the next turn.
    /// Preconditions: f's copy and move constructors, its allocator and the destructor of a moved-from f do not use the
    ///   wheel.
    /// Effects: a turn of the wheel calls f. If f has another associated executor, the turn dispatches f to it. If the
    ///   timer is cancelled, f is destroyed. Returns the empty token if the wheel refuses the timer; `ec` then says why
    ///   (errc).
    /// Complexity: O(1) and a clock reading. Errors: std::bad_alloc.
    template <class Rep, class Period, std::invocable F>
    token_type schedule(std::chrono::duration<Rep, Period> delay, F&& f, const detail::error_output& ec = {}) {
        impl_type& s = impl();
        return s.schedule(from_now{saturate_to_ns(delay), Clock::now()}, std::forward<F>(f), detail::no_callable(),
                          ec.get());
    }
    /// The same, with a callable that runs if the timer is cancelled (see on_cancel).
    template <class Rep, class Period, std::invocable F, class G>
    token_type schedule(std::chrono::duration<Rep, Period> delay, F&& f, on_cancel<G> cancelled,
                        const detail::error_output& ec = {}) {
        impl_type& s = impl();
        return s.schedule(from_now{saturate_to_ns(delay), Clock::now()}, std::forward<F>(f),
                          std::move(cancelled.callable), ec.get());
    }

    /// The same at a point in time.
    template <std::invocable F>
    token_type schedule_at(time_point at, F&& f, const detail::error_output& ec = {}) {
        return impl().schedule(at, std::forward<F>(f), detail::no_callable(), ec.get());
    }
    template <std::invocable F, class G>
    token_type schedule_at(time_point at, F&& f, on_cancel<G> cancelled, const detail::error_output& ec = {}) {
        return impl().schedule(at, std::forward<F>(f), std::move(cancelled.callable), ec.get());
    }

    /// The same as schedule(), with the delay counted from `now`, the caller's clock reading. This saves a reading,
    /// which is most of the cost.
    template <class Rep, class Period, std::invocable F>
    token_type schedule_from(time_point now, std::chrono::duration<Rep, Period> delay, F&& f) {
        impl_type& s = impl();
        return s.schedule(from_now{saturate_to_ns(delay), now}, std::forward<F>(f), detail::no_callable(),
                          detail::error_output().get());
    }

    /// Runs `f()` between `earliest` and `latest` from now, so that timers that need not be exact share wake-ups.
    /// Effects: chooses a tick of the range at which the wheel looks at a timer anyway. If it finds none, chooses the
    ///   one that is divisible by the highest power of two, because other timers choose it too. If no tick starts in
    ///   the range, f runs at the first tick after `earliest`. Everything else is as with schedule().
    /// Complexity: O(slots of the range / 64 + occupied slots) and a clock reading.
    template <class Rep1, class Period1, class Rep2, class Period2, std::invocable F>
    token_type schedule_in_range(std::chrono::duration<Rep1, Period1> earliest,
                                 std::chrono::duration<Rep2, Period2> latest, F&& f) {
        const time_point now = Clock::now();
        return impl().schedule(
            detail::time_range<Clock>{detail::point_after(now, earliest), detail::point_after(now, latest)},
            std::forward<F>(f), detail::no_callable(), detail::error_output().get());
    }

    /// Runs `f()` after `delay`. Rounds the deadline up to a multiple of `grain` since the wheel's construction. Timers
    /// that are rounded to the same multiple share one wake-up.
    /// Effects: rounds `grain` up to whole ticks. With a grain of one tick or less, or a delay of zero or less, rounds
    ///   as schedule() does. Everything else is as with schedule().
    /// Complexity: O(1) and a clock reading.
    template <class Rep, class Period, class GrainRep, class GrainPeriod, std::invocable F>
    token_type schedule_coarse(std::chrono::duration<Rep, Period> delay,
                               std::chrono::duration<GrainRep, GrainPeriod> grain, F&& f) {
        return impl().schedule(
            detail::coarse_delay<Clock>{{saturate_to_ns(delay), Clock::now()}, saturate_to_ns(grain)},
            std::forward<F>(f), detail::no_callable(), detail::error_output().get());
    }

    /// Returns how many timers are pending, those of timeouts included. All waits of one wheel_timer count as one.
    std::size_t pending() const { return impl().pending(); }

    /// Cancels all timers: later turns complete waits with operation_aborted, and destroy callables. Returns how many
    /// timers it cancelled. Complexity: O(slots + largest number of timers ever pending + wheel_timer objects).
    /// Errors: std::bad_alloc; nothing changes.
    std::size_t cancel_all() { return impl().cancel_all(); }

    /// Gives memory that no timer uses back to the system, for instance after a burst. Without this call, the wheel's
    /// pool never shrinks. On systems other than Linux the memory stays.
    /// Effects: pending timers and all tokens, also stale ones, stay as they are. Returns false and does nothing if a
    ///   timer may be due and has not fired yet, or inside a handler that the wheel calls at expiry.
    /// Complexity: that of cancel_all(), under the wheel's lock.
    bool trim() { return impl().trim(); }

    /// Cancels all timers as cancel_all() does, and refuses later ones: later waits complete with errc::stopped.
    /// Returns how many timers it cancelled. A handler may call it. Does not wait for handlers.
    /// Complexity, Errors: those of cancel_all().
    std::size_t stop() { return impl().stop(); }
    /// The same. Calls `visit(time_point expiry)` for each cancelled timer, in no particular order, outside the lock.
    /// Errors: std::bad_alloc, before anything changes; exceptions of the visitor.
    template <std::invocable<time_point> Visitor>
    std::size_t stop(Visitor visit) {
        return impl().stop(std::move(visit));
    }

    /// Returns a snapshot of the counts. Complexity: O(1); the quantiles take a few microseconds.
    wheel_stats stats() const { return impl().stats(); }

private:
    class initiate_wait {
    public:
        using executor_type = Executor;

        explicit initiate_wait(const basic_timer_wheel& wheel) : impl_(&wheel.impl()), executor_(wheel.executor_) {}
        executor_type get_executor() const noexcept { return executor_; }

        template <class Handler>
        void operator()(Handler&& handler, std::chrono::nanoseconds delay) const {
            impl_->start_wait(std::forward<Handler>(handler), from_now{delay, Clock::now()});
        }
        template <class Handler>
        void operator()(Handler&& handler, time_point at) const {
            impl_->start_wait(std::forward<Handler>(handler), at);
        }

    private:
        impl_type* impl_;
        executor_type executor_;
    };

    static asio::execution_context& context_of(const Executor& executor) {
        if constexpr (asio::can_query<const Executor&, asio::execution::context_t>::value)
            return asio::query(executor, asio::execution::context);
        else
            return executor.context();
    }

    impl_type& impl() const noexcept {
        assert(impl_ != nullptr && "a moved-from wheel may only be destroyed or assigned to");
        return *impl_;
    }

    impl_type* impl_ = nullptr;
    Executor executor_;
};

namespace detail {
template <class T>
inline constexpr bool is_timer_wheel = false;
template <class Clock, class Locking, class Wheel, class Executor>
inline constexpr bool is_timer_wheel<basic_timer_wheel<Clock, Locking, Wheel, Executor>> = true;
} // namespace detail

/// Any basic_timer_wheel.
template <class T>
concept any_timer_wheel = detail::is_timer_wheel<T>;

/// A wheel that several threads may use.
using timer_wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded>;

/// A wheel for one thread or one strand. It has no lock of its own.
using local_timer_wheel = basic_timer_wheel<std::chrono::steady_clock, single_threaded>;

} // namespace cogwheel
