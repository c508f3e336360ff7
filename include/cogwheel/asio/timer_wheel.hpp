// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timing wheel on an existing execution context. One Asio timer, the driver, serves hundreds of thousands of timers.
// A timer completes waits, runs a callable or cancels an operation. The cancellation of a wait or a callable is O(1).
//
//     cogwheel::timer_wheel wheel{io};
//     wheel.async_wait(20ms, [](std::error_code ec) { ... });
//     cogwheel::timer_token idle = wheel.schedule(30s, [] { ... });
//     idle.cancel(); // O(1); the callable never runs
//
// - A timer never fires early. It fires at most one tick late, plus the delay of the loop.
// - Earlier ticks fire before later ones.
// - Each accepted wait completes exactly once, unless the execution context is destroyed first. pending() is exact.
// - The wheel has no thread. It plans wake-ups for due ticks only, and turns are bounded.
// - An empty wheel does not keep run() from returning.
// docs/guarantees.md lists the exceptions to each of these. locking.hpp says which threads may use which wheel.
#pragma once

#include <cogwheel/asio/detail/clock/when.hpp>
#include <cogwheel/asio/detail/engine/wheel_service.hpp>
#include <cogwheel/asio/locking.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/wheel/hashed_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(async_result.hpp)

#include <concepts>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Marks the callable of schedule() that runs if the timer is cancelled instead of firing: by its token, by
/// cancel_all() or stop(), or by the wheel's destructor. A turn runs this callable; the call that cancels does not.
/// Example: wheel.schedule(5s, [] { ... }, cogwheel::on_cancel([] { ... }));
template <std::invocable G>
struct on_cancel {
    G callable;

    explicit on_cancel(G g) : callable(std::move(g)) {}
};

/// A range of times, for schedule(): the timer fires between `earliest` and `latest` from now, so that timers that need
/// not be exact share wake-ups. The wheel chooses a tick of the range at which it looks at a timer anyway; else the
/// tick that is divisible by the highest power of two, because other timers choose it too. If no tick starts in the
/// range, the timer fires at the first tick after `earliest`.
/// Complexity: O(slots of the range / 64 + occupied slots). Example: wheel.schedule(cogwheel::between(1s, 2s), f);
struct between {
    std::chrono::nanoseconds earliest, latest;

    template <class Rep1, class Period1, class Rep2, class Period2>
    constexpr between(std::chrono::duration<Rep1, Period1> e, std::chrono::duration<Rep2, Period2> l) noexcept
        : earliest(detail::saturate_to_ns(e)), latest(detail::saturate_to_ns(l)) {}
};

// Deleted functions have these types, so that the compiler's first line says what to write.
namespace mistake {
struct write_wheel_io_tick_10ms {};
struct the_handler_takes_an_error_code_else_write_schedule;
struct a_delay_needs_a_unit_write_schedule_5s_f;
struct a_delay_needs_a_unit_write_timeout_5s_token {};
struct for_a_date_write_async_wait_until_date;
struct f_takes_no_argument_for_an_error_code_write_async_wait;
} // namespace mistake

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Wheel>
class context_wheel_service;

/// What schedule() takes: a callable without arguments, or one that takes the token of its timer.
template <class F, class Token>
concept schedulable = callable<F> || callable<F, Token>;

template <class T, class Clock>
concept schedule_time = when<T, Clock> || std::same_as<T, between>;

template <class Clock, schedule_time<Clock> When>
COGWHEEL_ALWAYS_INLINE inline auto time_to_schedule(const When& w) {
    if constexpr (std::same_as<When, between>)
        return time_range<Clock>{point_after(Clock::now(), w.earliest), point_after(Clock::now(), w.latest)};
    else
        return time_of<Clock>(w);
}

template <class T, class Executor>
concept context_for =
    std::derived_from<T, asio::execution_context> && std::constructible_from<Executor, typename T::executor_type>;

struct impl_access {
    template <class Wheel>
    static auto& of(const Wheel& wheel) noexcept {
        return wheel.impl();
    }
};

/// Returns the impl behind a wheel, for the other rooms (detail/on_wheel.hpp).
template <class Wheel>
auto& impl_of(const Wheel& wheel) noexcept {
    return impl_access::of(wheel);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The handle of a wheel. timer_wheel and local_timer_wheel name the usual types. Through a const reference, the caller
/// can use the wheel, but not stop or move it, nor cancel all timers.
/// Clock: a std::chrono clock. Locking: multi_threaded or single_threaded. Core: hashed_wheel, hierarchical_wheel, or a
/// type of your own that models timing_wheel. Executor: as for asio::basic_waitable_timer.
/// Thread safety: as Locking says. Lifetime: the execution context must outlive the wheel.
template <class Clock, class Locking, timing_wheel Core = hashed_wheel, class Executor = asio::any_io_executor>
class basic_timer_wheel {
    using impl_type = detail::wheel_impl<Clock, Locking, Core>;

    template <class, class, timing_wheel, class>
    friend class basic_timer_wheel;
    friend detail::impl_access;
    friend class detail::context_wheel_service<basic_timer_wheel>;

public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using token_type = basic_timer_token<Clock, Locking, Core>;

    /// The type of the same wheel with another executor type; Asio's as_default_on uses it.
    template <class Other>
    struct rebind_executor {
        using other = basic_timer_wheel<Clock, Locking, Core, Other>;
    };

    /// Makes a wheel whose turns run on `executor`.
    /// Errors: std::invalid_argument (options, see wheel_options; or this thread must not read the processor's counter,
    ///   see docs/platforms.md), std::bad_alloc.
    /// Thread safety: any thread, also while the context runs.
    [[gnu::cold]] explicit basic_timer_wheel(const Executor& executor, const wheel_options& options = {})
        : executor_(executor) {
        options.validate(detail::levelled_wheel<Core>);
        impl_ = &detail::open_wheel<impl_type>(detail::context_of(executor), executor, options);
    }

    template <class Rep, class Period>
    explicit basic_timer_wheel(std::chrono::duration<Rep, Period>, mistake::write_wheel_io_tick_10ms = {}) = delete;

    /// Does the same with the executor of a context. Lifetime: the context must outlive the wheel.
    template <detail::context_for<Executor> Context>
    explicit basic_timer_wheel(Context& context, const wheel_options& options = {})
        : basic_timer_wheel(Executor(context.get_executor()), options) {}

    /// Takes the timers over. Afterwards, `other` may only be destroyed or assigned to.
    basic_timer_wheel(basic_timer_wheel&& other) noexcept
        : impl_(std::exchange(other.impl_, nullptr)), executor_(std::move(other.executor_)) {}
    template <class Other>
        requires std::constructible_from<Executor, Other>
    basic_timer_wheel(basic_timer_wheel<Clock, Locking, Core, Other>&& other)
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
    [[gnu::cold]] ~basic_timer_wheel() {
        if (impl_ != nullptr) impl_->close();
    }

    executor_type get_executor() const noexcept { return executor_; }

    // Stands before the function that it warns of, because Clang 19 lists the candidates in this order.
    template <detail::when<Clock> When, class F>
        requires(!detail::callable<F, error_code> && detail::callable<F>) // in this order: some tokens take anything
    mistake::the_handler_takes_an_error_code_else_write_schedule async_wait(const When&, F&&) = delete;

    /// Starts a wait that completes at `when`: a duration from now, a point in time, or a deadline. A duration of zero
    /// or less completes it in the next turn; a past point, in the next turn or at the end of the present tick.
    /// Effects: takes memory from the handler's associated allocator, else from the wheel's pool (large handlers: from
    ///   the heap). Frees it before the handler runs. Never completes inside this call.
    /// Completion signature: void(std::error_code): success; asio::error::operation_aborted if the wait was cancelled;
    ///   errc::too_many_timers or errc::stopped if the wheel refuses the timer.
    /// Cancellation: terminal, partial and total, through the handler's slot; O(1).
    /// Executor: the handler's associated one, else the wheel's.
    /// Complexity: O(1). Errors: std::bad_alloc; the handler is then destroyed. Thread safety: as Locking says.
    template <detail::when<Clock> When, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(const When& when, Token&& token = {}) const {
        return asio::async_initiate<Token, void(error_code)>(initiate_wait(*this), token, detail::time_of<Clock>(when));
    }

    /// Runs `f()` at `when`, unless the timer is cancelled first: a duration from now, a point in time, a deadline, or
    /// a range of times (between). With a duration of zero or less, in the next turn.
    /// If f takes a token_type, runs `f(token)` with the token of its own timer, for instance to find it in a table.
    /// Preconditions: f's copy and move constructors, its allocator and the destructor of a moved-from f do not use the
    ///   wheel.
    /// Effects: a turn of the wheel calls f. If f has another associated executor, the turn dispatches f to it. If the
    ///   timer is cancelled, f is destroyed. Returns the empty token if the wheel refuses the timer.
    /// Complexity: O(1); for a duration, also a clock reading. Errors: std::bad_alloc.
    template <detail::schedule_time<Clock> When, detail::schedulable<token_type> F>
    COGWHEEL_ALWAYS_INLINE token_type schedule(const When& when, F&& f) const {
        return schedule_timer(when, std::forward<F>(f), detail::no_callable(), nullptr);
    }
    /// Does the same, and sets `ec`: to the reason of a refusal (errc), or to success.
    template <detail::schedule_time<Clock> When, detail::schedulable<token_type> F>
    token_type schedule(const When& when, F&& f, error_code& ec) const {
        return schedule_timer(when, std::forward<F>(f), detail::no_callable(), &ec);
    }
    /// Do the same, with a callable that runs if the timer is cancelled (see on_cancel).
    template <detail::schedule_time<Clock> When, detail::schedulable<token_type> F, class G>
    token_type schedule(const When& when, F&& f, on_cancel<G> cancelled) const {
        return schedule_timer(when, std::forward<F>(f), std::move(cancelled.callable), nullptr);
    }
    template <detail::schedule_time<Clock> When, detail::schedulable<token_type> F, class G>
    token_type schedule(const When& when, F&& f, on_cancel<G> cancelled, error_code& ec) const {
        return schedule_timer(when, std::forward<F>(f), std::move(cancelled.callable), &ec);
    }

    template <class N, class... More>
        requires std::is_arithmetic_v<N>
    mistake::a_delay_needs_a_unit_write_schedule_5s_f schedule(N, More&&...) const = delete;
    template <class C, class D, class... More>
        requires(!std::same_as<C, Clock>)
    mistake::for_a_date_write_async_wait_until_date schedule(std::chrono::time_point<C, D>, More&&...) const = delete;
    template <detail::schedule_time<Clock> When, class F, class... More>
        requires(!detail::schedulable<F, token_type>)
    mistake::f_takes_no_argument_for_an_error_code_write_async_wait schedule(const When&, F&&,
                                                                             More&&...) const = delete;

    /// Schedules a batch: moves the elements out of a range of pairs or tuples (delay, f). Reads the clock once. Takes
    /// the lock once if the range is contiguous; any other range may compute its elements by calls of the wheel. Stops
    /// at the first timer that the wheel refuses, and sets `ec` to the reason. Returns the tokens of the timers before
    /// it, in order. Complexity: O(length). Errors: std::bad_alloc; the timers before that one stay pending.
    template <class Range>
    std::vector<token_type> schedule_all(Range&& range, error_code& ec) const {
        return impl().schedule_all(range, ec);
    }
    template <class Range>
    std::vector<token_type> schedule_all(Range&& range) const {
        error_code ignored;
        return impl().schedule_all(range, ignored);
    }

    /// Returns how many timers are pending, also for timeouts. All waits of one wheel_timer count as one.
    std::size_t pending() const { return impl().pending(); }

    /// Cancels all timers: later turns complete waits with operation_aborted, and destroy callables. Returns how many
    /// timers it cancelled. Complexity: O(slots + largest number of timers ever pending + wheel_timer objects).
    /// Errors: std::bad_alloc; nothing changes.
    std::size_t cancel_all() { return impl().cancel_all(); }

    /// Gives unused memory back to the system (Linux only), for instance after a burst. Only trim() shrinks the pool.
    /// Effects: pending timers and all tokens, also stale ones, stay as they are. Returns false and does nothing if a
    ///   timer may be due and has not fired yet, or inside a handler that the wheel calls at expiry. Memory that other
    ///   threads stop using meanwhile may stay.
    /// Complexity: O(slots + timers + memory not in use). Takes the wheel's lock again for each slice of about 0.1 ms.
    bool trim() { return impl().trim(); }
    /// Does the same in slices of about 0.1 ms, so that other handlers can run in between. Begin with a new cursor, and
    /// repeat the call until it returns false; cursor.done() is the result. Only the first slice checks for due timers.
    ///
    ///     cogwheel::wheel_cursor cursor;
    ///     while (wheel.trim(cursor)) co_await asio::post(asio::use_awaitable);
    bool trim(wheel_cursor& cursor) { return impl().trim(cursor); }

    /// Cancels all timers as cancel_all() does, and refuses later ones: later waits complete with errc::stopped.
    /// Returns how many timers it cancelled. A handler may call it. Does not wait for handlers.
    /// Complexity, Errors: those of cancel_all().
    std::size_t stop() { return impl().stop(); }
    /// Does the same, and calls `visit(expiry)` or `visit(expiry, token)` for each cancelled timer, with a time_point
    /// and a token_type. The calls come in no particular order, without the lock. No caller has the token of a wait or
    /// a timeout. Errors: std::bad_alloc, before anything changes; exceptions of the visitor.
    template <class Visitor>
        requires(std::invocable<Visitor&, time_point> || std::invocable<Visitor&, time_point, token_type>)
    std::size_t stop(Visitor visit) {
        return impl().stop(std::move(visit));
    }

    /// Returns the counts. Holds the lock for about 1 us, and up to 0.1 ms while many timers are due. Complexity: O(1);
    /// the quantiles take a few microseconds, without the lock.
    wheel_stats stats() const { return impl().stats(); }

    /// Returns the counts, and those of the slots, which may be newer. Takes the lock for the counts, and again for
    /// each 4,096 slots, each time for about 3 us, rarely up to 0.1 ms. Complexity: O(slots). Errors: std::bad_alloc.
    wheel_snapshot snapshot() const { return impl().snapshot(); }
    /// Does the same in steps of at most 4,096 slots, so that other handlers can run in between. Begin with a new
    /// cursor and an empty snapshot, and repeat the call until it returns false.
    bool snapshot(wheel_cursor& cursor, wheel_snapshot& s) const { return impl().snapshot(cursor, s); }

    /// Lets other threads read the counts of a local wheel: see stats_board. Each call returns the same board.
    /// Effects: if a reader has asked, the next turn takes a snapshot, which costs O(slots).
    /// Errors: std::bad_alloc.
    std::shared_ptr<stats_board> publish() const { return impl().publish(); }

    /// Calls `f(slow_turn)` after turns that took long or left many timers waiting, but not too often: see
    /// slow_turn_options. A turn whose handler threw is not reported. f runs in the turn, on the wheel's executor,
    /// without the lock; if it throws, the exception leaves run(). Replaces the former f.
    /// Errors: std::invalid_argument (options), std::bad_alloc.
    /// Example: wheel.on_slow_turn({.longer_than = 20ms}, [](auto& t) { log(to_string(t)); });
    template <std::invocable<const slow_turn&> F>
    void on_slow_turn(const slow_turn_options& options, F f) {
        options.validate();
        impl().on_slow_turn(options, std::make_shared<detail::slow_turn_receiver_of<F>>(std::move(f)));
    }
    /// Ends the reports.
    void on_slow_turn(std::nullptr_t) { impl().on_slow_turn({}, nullptr); }

    /// Calls `visit(expiry)` or `visit(expiry, token)`, with a time_point and a token_type, for each pending timer, in
    /// no particular order, without the lock. Visits a timer that is pending throughout exactly once, any other at most
    /// once. The token's cancel() ends a timer without a callable as cancel_all() does: a wait or a request completes
    /// with operation_aborted, and the operation of a timeout is cancelled. But an abandon() only loses its timeout.
    /// Complexity: O(largest number of timers ever pending). Takes the lock for each 512 of them, for at most about
    /// 50 us. Errors: those of the visitor.
    template <class Visitor>
        requires(std::invocable<Visitor&, time_point> || std::invocable<Visitor&, time_point, token_type>)
    void for_each_pending(Visitor visit) const {
        for (wheel_cursor cursor; impl().for_each_pending(cursor, visit);) {
        }
    }
    /// Does the same for one slice, so that other handlers can run in between. Begin with a new cursor, and repeat the
    /// call until it returns false. Visits a timer that is pending during all slices exactly once.
    template <class Visitor>
        requires(std::invocable<Visitor&, time_point> || std::invocable<Visitor&, time_point, token_type>)
    bool for_each_pending(wheel_cursor& cursor, Visitor visit) const {
        return impl().for_each_pending(cursor, visit);
    }

    /// Returns f(observer), called under the lock, for an observed_wheel. Preconditions: f does not use the wheel.
    template <class F>
        requires requires(Core& w, F f) { f(w.observer()); }
    decltype(auto) with_observer(F f) const {
        return impl().with_observer(std::move(f));
    }

private:
    class initiate_wait {
    public:
        using executor_type = Executor;

        explicit initiate_wait(const basic_timer_wheel& wheel) : impl_(&wheel.impl()), executor_(wheel.executor_) {}
        executor_type get_executor() const noexcept { return executor_; }

        template <class Handler>
        void operator()(Handler&& handler, detail::from_present delay) const {
            impl_->start_wait(std::forward<Handler>(handler), delay);
        }
        template <class Handler>
        void operator()(Handler&& handler, time_point at) const {
            impl_->start_wait(std::forward<Handler>(handler), at);
        }

    private:
        impl_type* impl_;
        executor_type executor_;
    };

    // always_inline: see wheel_impl::schedule()
    template <class When, class F, class G>
    COGWHEEL_ALWAYS_INLINE token_type schedule_timer(const When& when, F&& f, G&& cancelled, error_code* ec) const {
        impl_type& s = impl();
        return s.schedule(detail::time_to_schedule<Clock>(when), std::forward<F>(f), std::forward<G>(cancelled), ec);
    }

    impl_type& impl() const noexcept {
        COGWHEEL_ASSERT(impl_ != nullptr && "destroy a moved-from wheel, or assign to it");
        return *impl_;
    }

    impl_type* impl_ = nullptr;
    Executor executor_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
template <class T>
inline constexpr bool is_timer_wheel = false;
template <class Clock, class Locking, class Core, class Executor>
inline constexpr bool is_timer_wheel<basic_timer_wheel<Clock, Locking, Core, Executor>> = true;

template <class Wheel>
using impl_type = std::remove_reference_t<decltype(impl_of(std::declval<const Wheel&>()))>;

/// A wheel of the same clock, locking and core. Its executor may have another type.
template <class W, class Wheel>
concept same_wheel = is_timer_wheel<W> && std::same_as<impl_type<W>, impl_type<Wheel>>;

/// The type of such wheels that timer_wheel_of() returns.
template <class Wheel>
using context_wheel_type = typename Wheel::template rebind_executor<asio::any_io_executor>::other;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A wheel of the binding: a basic_timer_wheel of any clock, locking, core and executor.
template <class T>
concept any_timer_wheel = detail::is_timer_wheel<T>;

/// A wheel that several threads may use.
using timer_wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded>;

/// A wheel for one thread or one strand. It has no lock of its own.
using local_timer_wheel = basic_timer_wheel<std::chrono::steady_clock, single_threaded>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

#include <cogwheel/asio/detail/engine/separate_functions.hpp>
