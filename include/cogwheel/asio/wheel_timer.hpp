// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer object on a wheel, with the interface of asio::steady_timer.
//
//     cogwheel::wheel_timer timer{wheel, 5s}; // or {io, 5s}, {socket.get_executor(), 5s}: see timer_wheel_of.hpp
//     timer.async_wait([](std::error_code ec) { ... });
//     timer.reschedule(30s); // the wait continues; expires_after(30s) would abort it
//
// Differences from steady_timer:
// - A wait completes up to one tick late. Re-arming usually costs one store.
// - reschedule() moves pending waits to a new expiry, and aborts none.
// - The cancellation slot of a wait still works after a move of the timer object, but not after its destruction.
// As in Asio, one thread at a time may use a timer object. Threads may use different timers of one timer_wheel.
#pragma once

#include <cogwheel/asio/detail/engine/wheel_timer_impl.hpp>
#include <cogwheel/asio/detail/executor/context_wheel.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/detail/platform.hpp>

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(wait_traits.hpp)

#include <thread>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A timer that several waits may share. wheel_timer names the usual type.
/// Wheel: the type of the wheel on which it is made. Executor: as for asio::basic_waitable_timer.
/// Lifetime: the wheel may be destroyed first. That aborts pending waits; later waits complete with errc::stopped. The
/// execution contexts of the wheel and of the timer's executor must outlive the timer.
template <any_timer_wheel Wheel = timer_wheel, class Executor = asio::any_io_executor>
class basic_wheel_timer {
    using engine = typename detail::impl_type<Wheel>::engine;
    using clock = typename Wheel::clock_type;

    template <any_timer_wheel, class>
    friend class basic_wheel_timer;

public:
    using executor_type = Executor;
    using clock_type = clock;
    using duration = typename clock::duration;
    using time_point = typename clock::time_point;
    using traits_type = asio::wait_traits<clock>;
    using wheel_type = typename Wheel::template rebind_executor<Executor>::other;

    template <class Other>
    struct rebind_executor {
        using other = basic_wheel_timer<Wheel, Other>;
    };

    /// Makes a timer whose expiry is time_point(), usually long past, as with steady_timer.
    template <detail::same_wheel<Wheel> W>
        requires std::constructible_from<Executor, typename W::executor_type>
    explicit basic_wheel_timer(const W& wheel) : impl_(detail::impl_of(wheel)), executor_(wheel.get_executor()) {}
    /// Makes a timer that expires at `when`: a duration from now, a point in time, or a deadline.
    template <detail::same_wheel<Wheel> W, detail::when<clock> When>
        requires std::constructible_from<Executor, typename W::executor_type>
    basic_wheel_timer(const W& wheel, const When& when) : basic_wheel_timer(wheel) {
        expire(when);
    }

    /// Do the same, with an executor for handlers that have none. Default: the wheel's executor.
    template <detail::same_wheel<Wheel> W>
    basic_wheel_timer(const W& wheel, const Executor& executor)
        : impl_(detail::impl_of(wheel)),
          own_executor_(!detail::same_executor(wheel.get_executor(), executor)),
          executor_(executor) {}
    template <detail::same_wheel<Wheel> W, detail::when<clock> When>
    basic_wheel_timer(const W& wheel, const Executor& executor, const When& when) : basic_wheel_timer(wheel, executor) {
        expire(when);
    }

    /// Do the same on the wheel of the executor's context (see timer_wheel_of). Errors: std::bad_alloc.
    explicit basic_wheel_timer(const Executor& executor)
        : basic_wheel_timer(detail::find_wheel<detail::context_wheel_type<Wheel>>(executor), executor) {}
    template <detail::when<clock> When>
    basic_wheel_timer(const Executor& executor, const When& when) : basic_wheel_timer(executor) {
        expire(when);
    }
    /// Do the same with the executor of a context.
    template <detail::context_for<Executor> Context>
    explicit basic_wheel_timer(Context& context) : basic_wheel_timer(Executor(context.get_executor())) {}
    template <detail::context_for<Executor> Context, detail::when<clock> When>
    basic_wheel_timer(Context& context, const When& when) : basic_wheel_timer(Executor(context.get_executor()), when) {}

    /// Takes the expiry and the waits over. `other` is then like a new timer of the same wheel.
    basic_wheel_timer(basic_wheel_timer&& other) noexcept
        : impl_(std::move(other.impl_)),
          expiry_(std::exchange(other.expiry_, time_point())),
          at_once_(std::exchange(other.at_once_, false)),
          own_executor_(other.own_executor_),
          executor_(other.get_executor()) {}
    template <class Other>
        requires std::constructible_from<Executor, Other>
    basic_wheel_timer(basic_wheel_timer<Wheel, Other>&& other)
        : impl_(std::move(other.impl_)),
          expiry_(std::exchange(other.expiry_, time_point())),
          at_once_(std::exchange(other.at_once_, false)),
          own_executor_(other.own_executor_),
          executor_(other.get_executor()) {}

    /// Cancels the waits of this timer, then takes the expiry and the waits of `other` over.
    basic_wheel_timer& operator=(basic_wheel_timer&& other) noexcept {
        impl_ = std::move(other.impl_);
        expiry_ = std::exchange(other.expiry_, time_point());
        at_once_ = std::exchange(other.at_once_, false);
        own_executor_ = other.own_executor_;
        executor_ = other.executor_;
        return *this;
    }

    /// Cancels the waits, which complete with operation_aborted.
    ~basic_wheel_timer() = default;

    executor_type get_executor() const noexcept { return executor_; }

    time_point expiry() const noexcept { return expiry_; }

    /// Cancels the waits and sets the expiry of later ones. Returns how many waits it cancelled.
    /// Effects: cancelled waits complete with operation_aborted. Waits whose timer has already fired are not cancelled.
    /// Complexity: O(waits). Errors: std::bad_alloc; nothing changes.
    std::size_t expires_at(time_point expiry) {
        const std::size_t n = impl_.cancel();
        expiry_ = expiry;
        at_once_ = false;
        return n;
    }
    /// Does the same, with a delay from now. If the delay is zero or less, later waits complete in the next turn.
    template <class Rep, class Period>
    std::size_t expires_after(std::chrono::duration<Rep, Period> delay) {
        prefetch();
        time_point now;
        const std::size_t n = impl_.cancel(now);
        // A wait for such an expiry completes at once, so it must not lie ahead, as a time of the tick clock may.
        set_expiry(delay, delay > delay.zero() ? now : clock::now());
        return n;
    }

    /// Moves the expiry of pending and later waits to `when`: a duration from now, a point in time, or a deadline.
    /// Aborts no wait. Returns true if a wait is pending.
    /// Complexity: O(1); usually one store for a later expiry. Errors: std::bad_alloc; nothing changes.
    template <detail::when<clock> When>
    bool reschedule(const When& when) {
        prefetch();
        if constexpr (detail::is_duration<When>) {
            if (when <= when.zero()) return reschedule_at_once(when);
            const bool pending = impl_.reschedule(detail::saturate_to_ns(when), expiry_);
            at_once_ = false;
            return pending;
        } else {
            const auto expiry = detail::to_point<clock>(when);
            const bool pending = impl_.reschedule(expiry);
            expiry_ = expiry;
            at_once_ = false;
            return pending;
        }
    }

    /// Cancels the waits, which complete with operation_aborted. Returns how many waits it cancelled.
    /// Complexity: O(waits). Errors: std::bad_alloc; nothing changes.
    std::size_t cancel() { return impl_.cancel(); }

    /// Cancels only the pending wait that was started first. Returns 0 or 1. Complexity: O(1).
    std::size_t cancel_one() { return impl_.cancel_one(); }

    /// Starts a wait that completes at expiry(), or up to one tick later. Waits that expire together complete in the
    /// order of their start. Everything else is as with timer_wheel::async_wait().
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code)>(initiate_wait(*this), token);
    }

    /// Blocks until expiry(). Uses the clock only: runs no turn of the wheel, and cancel() does not end the call.
    void wait() const {
        for (time_point now = clock::now(); now < expiry_; now = clock::now())
            std::this_thread::sleep_for(traits_type::to_wait_duration(detail::distance(now, expiry_)));
    }
    /// Does the same, and sets `ec` to success: for code that was written for steady_timer.
    void wait(error_code& ec) const {
        wait();
        ec.clear();
    }

private:
    template <class When>
    void expire(const When& when) {
        if constexpr (detail::is_duration<When>)
            set_expiry(when, clock::now());
        else
            expiry_ = detail::to_point<clock>(when);
    }

    template <class Rep, class Period>
    bool reschedule_at_once(std::chrono::duration<Rep, Period> delay) {
        const time_point now = clock::now();
        const bool pending = impl_.reschedule(typename engine::from_now{std::chrono::nanoseconds::zero(), now});
        set_expiry(delay, now);
        return pending;
    }

    template <class Rep, class Period>
    void set_expiry(std::chrono::duration<Rep, Period> delay, time_point now) noexcept {
        expiry_ = detail::point_after(now, delay);
        at_once_ = delay <= delay.zero();
    }

    // Called before a clock reading, which waits for earlier loads, but not for prefetches (docs/adr/0005).
    COGWHEEL_ALWAYS_INLINE void prefetch() const noexcept {
        COGWHEEL_PREFETCH(this, 1);
        COGWHEEL_PREFETCH(&expiry_, 1);
    }

    class initiate_wait {
    public:
        using executor_type = Executor;

        explicit initiate_wait(basic_wheel_timer& timer) noexcept : timer_(&timer) {}
        executor_type get_executor() const noexcept { return timer_->executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const {
            if constexpr (!detail::has_executor<std::decay_t<Handler>>)
                if (timer_->own_executor_) return send(std::forward<Handler>(handler));
            start(std::forward<Handler>(handler));
        }

    private:
        template <class Handler>
        void start(Handler&& handler) const {
            timer_->impl_.start_wait(std::forward<Handler>(handler), timer_->expiry_, timer_->at_once_);
        }
        // Not inlined: then the compiler inlines the engine into start(), the usual path.
        template <class Handler>
        [[gnu::noinline]] void send(Handler&& handler) const {
            if constexpr (detail::has_allocator<std::decay_t<Handler>>)
                start(asio::bind_executor(timer_->executor_, std::forward<Handler>(handler)));
            else
                timer_->impl_.start_wait_on(timer_->executor_, std::forward<Handler>(handler), timer_->expiry_,
                                            timer_->at_once_);
        }

        basic_wheel_timer* timer_;
    };

    detail::wheel_timer_impl<engine> impl_;
    time_point expiry_{};
    bool at_once_ = false;      // set by a delay <= 0: waits complete in the next turn, not at the end of the tick
    bool own_executor_ = false; // executor_ is not the wheel's
    Executor executor_;
};

template <any_timer_wheel Wheel>
basic_wheel_timer(const Wheel&) -> basic_wheel_timer<detail::context_wheel_type<Wheel>, typename Wheel::executor_type>;
template <any_timer_wheel Wheel, class When>
basic_wheel_timer(const Wheel&, const When&)
    -> basic_wheel_timer<detail::context_wheel_type<Wheel>, typename Wheel::executor_type>;
template <any_timer_wheel Wheel, detail::any_executor Executor>
basic_wheel_timer(const Wheel&, const Executor&) -> basic_wheel_timer<detail::context_wheel_type<Wheel>, Executor>;
template <any_timer_wheel Wheel, detail::any_executor Executor, class When>
basic_wheel_timer(const Wheel&, const Executor&, const When&)
    -> basic_wheel_timer<detail::context_wheel_type<Wheel>, Executor>;

/// A timer on a timer_wheel.
using wheel_timer = basic_wheel_timer<>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
