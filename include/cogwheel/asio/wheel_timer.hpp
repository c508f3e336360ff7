// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// asio::steady_timer's interface, on a wheel: swap the type, construct it from a wheel, keep the rest.
//
// What differs: waits complete up to a tick late; re-arming costs a store; reschedule() moves those who wait instead of aborting
// them; and three of Asio's traps are gone: emitting a wait's signal after the timer was destroyed is harmless, after it was
// moved it still cancels, and it cancels that wait alone.
// A timer object is for one thread at a time, as in Asio; different timers of one timer_wheel may be used from different threads.
#pragma once

#include <cogwheel/asio/detail/timer_core.hpp>
#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/wait_traits.hpp>

#include <thread>

namespace cogwheel {

template <class Clock, class Locking, timing_wheel Wheel = hashed_wheel, class Executor = asio::any_io_executor>
class basic_wheel_timer {
    using state = detail::wheel_state<Clock, Locking, Wheel>;
    using engine = typename state::engine;

    template <class, class, timing_wheel, class>
    friend class basic_wheel_timer;

public:
    using executor_type = Executor;
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using traits_type = asio::wait_traits<Clock>;
    using wheel_type = basic_timer_wheel<Clock, Locking, Wheel, Executor>;

    template <class Other>
    struct rebind_executor {
        using other = basic_wheel_timer<Clock, Locking, Wheel, Other>;
    };

    /// A timer that has expired long ago, as steady_timer's. The wheel may be destroyed before it: waits then complete with
    /// errc::stopped. Its execution context may not.
    template <class Other>
        requires std::constructible_from<Executor, Other>
    explicit basic_wheel_timer(const basic_timer_wheel<Clock, Locking, Wheel, Other>& wheel)
        : core_(detail::state_of::get(wheel)), executor_(wheel.get_executor()) {}
    template <class Other>
        requires std::constructible_from<Executor, Other>
    basic_wheel_timer(const basic_timer_wheel<Clock, Locking, Wheel, Other>& wheel, time_point expiry)
        : basic_wheel_timer(wheel) {
        expiry_ = expiry;
    }
    template <class Other, class Rep, class Period>
        requires std::constructible_from<Executor, Other>
    basic_wheel_timer(const basic_timer_wheel<Clock, Locking, Wheel, Other>& wheel,
                      std::chrono::duration<Rep, Period> expiry)
        : basic_wheel_timer(wheel) {
        set_expiry(expiry, Clock::now());
    }

    /// Takes expiry and waits over. `other` is left as one made anew from the same wheel.
    basic_wheel_timer(basic_wheel_timer&& other) noexcept
        : core_(std::move(other.core_)),
          expiry_(std::exchange(other.expiry_, time_point())),
          at_once_(std::exchange(other.at_once_, false)),
          executor_(other.get_executor()) {}
    template <class Other>
        requires std::constructible_from<Executor, Other>
    basic_wheel_timer(basic_wheel_timer<Clock, Locking, Wheel, Other>&& other)
        : core_(std::move(other.core_)),
          expiry_(std::exchange(other.expiry_, time_point())),
          at_once_(std::exchange(other.at_once_, false)),
          executor_(other.get_executor()) {}

    /// Cancels its own waits first.
    basic_wheel_timer& operator=(basic_wheel_timer&& other) noexcept {
        core_ = std::move(other.core_);
        expiry_ = std::exchange(other.expiry_, time_point());
        at_once_ = std::exchange(other.at_once_, false);
        executor_ = other.executor_;
        return *this;
    }

    /// Cancels its waits.
    ~basic_wheel_timer() = default;

    executor_type get_executor() const noexcept { return executor_; }

    time_point expiry() const noexcept { return expiry_; }

    /// Cancels the waits, which complete with operation_aborted, and sets the expiry for those to come. Returns how many waits
    /// that were. Those that have expired already are not among them. Complexity: O(waits). Errors: std::bad_alloc.
    std::size_t expires_at(time_point expiry) {
        const std::size_t n = core_.cancel();
        expiry_ = expiry;
        at_once_ = false;
        return n;
    }
    /// The same from now on. Zero or less: waits complete in the next turn.
    template <class Rep, class Period>
    std::size_t expires_after(std::chrono::duration<Rep, Period> delay) {
        prefetch();
        const time_point now = Clock::now();
        const std::size_t n = core_.cancel();
        set_expiry(delay, now);
        return n;
    }

    /// Sets the expiry for those who wait, too: nobody is aborted. True iff somebody waits. A later expiry is a store.
    template <class Rep, class Period>
    bool reschedule(std::chrono::duration<Rep, Period> delay) {
        prefetch();
        return reschedule(delay, Clock::now());
    }
    /// The same, with a clock reading that the caller has at hand: the reading is most of the cost.
    template <class Rep, class Period>
    bool reschedule(std::chrono::duration<Rep, Period> delay, time_point now) {
        if (delay > delay.zero()) return reschedule_at(detail::point_after(now, delay));
        const bool pending = core_.reschedule(from_now{std::chrono::nanoseconds::zero(), now});
        set_expiry(delay, now);
        return pending;
    }
    bool reschedule_at(time_point expiry) {
        const bool pending = core_.reschedule(expiry);
        expiry_ = expiry;
        at_once_ = false;
        return pending;
    }

    std::size_t cancel() { return core_.cancel(); }

    /// Cancels the wait that was started first.
    std::size_t cancel_one() { return core_.cancel_one(); }

    /// Completes at expiry(), up to a tick late. Several waits complete in the order in which they were started.
    /// All else as timer_wheel::async_wait().
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code)>(initiate_wait(*this), token);
    }

    /// Blocks until expiry(), by the clock alone: the wheel does not turn for it, and cancel() does not end it.
    void wait() const {
        for (time_point now = Clock::now(); now < expiry_; now = Clock::now())
            std::this_thread::sleep_for(traits_type::to_wait_duration(detail::distance(now, expiry_)));
    }
    /// The same, for code that was written for steady_timer. `ec` is success.
    void wait(std::error_code& ec) const {
        wait();
        ec.clear();
    }

private:
    using from_now = typename engine::from_now;

    template <class Rep, class Period>
    void set_expiry(std::chrono::duration<Rep, Period> delay, time_point now) noexcept {
        expiry_ = detail::point_after(now, delay);
        at_once_ = delay <= delay.zero();
    }

    // Before the clock is read: its reading waits for loads, but not for these.
    [[gnu::always_inline]] void prefetch() const noexcept {
        __builtin_prefetch(this, 1);
        __builtin_prefetch(&expiry_, 1);
    }

    class initiate_wait {
    public:
        using executor_type = Executor;

        explicit initiate_wait(basic_wheel_timer& timer) noexcept : timer_(&timer) {}
        executor_type get_executor() const noexcept { return timer_->executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const {
            if (timer_->at_once_)
                timer_->core_.start_wait(std::forward<Handler>(handler),
                                         from_now{std::chrono::nanoseconds::zero(), timer_->expiry_});
            else
                timer_->core_.start_wait(std::forward<Handler>(handler), timer_->expiry_);
        }

    private:
        basic_wheel_timer* timer_;
    };

    detail::timer_core<engine> core_;
    time_point expiry_{};
    bool at_once_ = false; // by a delay: the next turn, not the end of the tick
    Executor executor_;
};

// One for each constructor: a more general guide would lose to those that the constructors imply, which erase the executor.
template <class Clock, class Locking, timing_wheel Wheel, class Executor>
basic_wheel_timer(const basic_timer_wheel<Clock, Locking, Wheel, Executor>&)
    -> basic_wheel_timer<Clock, Locking, Wheel, Executor>;
template <class Clock, class Locking, timing_wheel Wheel, class Executor>
basic_wheel_timer(const basic_timer_wheel<Clock, Locking, Wheel, Executor>&, typename Clock::time_point)
    -> basic_wheel_timer<Clock, Locking, Wheel, Executor>;
template <class Clock, class Locking, timing_wheel Wheel, class Executor, class Rep, class Period>
basic_wheel_timer(const basic_timer_wheel<Clock, Locking, Wheel, Executor>&, std::chrono::duration<Rep, Period>)
    -> basic_wheel_timer<Clock, Locking, Wheel, Executor>;

/// On a timer_wheel.
using wheel_timer = basic_wheel_timer<std::chrono::steady_clock, multi_threaded>;

/// On a local_timer_wheel: for its one thread or strand.
using local_wheel_timer = basic_wheel_timer<std::chrono::steady_clock, single_threaded>;

} // namespace cogwheel
