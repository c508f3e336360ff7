// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The token of a scheduled callable: two words, cheap to copy. It does nothing once the timer has ended.
//
//     cogwheel::timer_token idle = wheel.schedule(30s, [&] { socket.close(); });
//     idle.reschedule(30s); // a message arrived
//     idle.cancel();        // true: the callable never runs
//     std::cout << idle;    // "timer 17:3 cancelled"
#pragma once

#include <cogwheel/asio/detail/clock/when.hpp>
#include <cogwheel/asio/locking.hpp>
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <chrono>
#include <iosfwd>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What has become of a scheduled callable.
enum class timer_state {
    pending,
    fired,     ///< it runs, has run, or is on the way to its executor
    cancelled, ///< by its token, cancel_all(), stop() or the wheel's destructor
    stale      ///< it has ended, and the wheel does not know any more how; also: the token is empty
};

constexpr std::string_view to_string(timer_state state) noexcept {
    return detail::constant_name(state, {"pending", "fired", "cancelled", "stale"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Clock, class Locking, timing_wheel Core>
class wheel_impl; // <cogwheel/asio/timer_wheel.hpp> defines it: who calls a token includes that
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Names one scheduled callable. It never names a later timer.
/// A token is stale once its timer has fired or was cancelled, or its wheel was destroyed. A default-constructed token
/// is empty. On a stale or empty token, cancel(), reschedule() and pending() return false.
/// Complexity: O(1) for each function. Thread safety: that of the wheel.
/// Lifetime: none of these functions may be called after the wheel's execution context is destroyed.
template <class Clock, class Locking = multi_threaded, timing_wheel Core = hashed_wheel>
class basic_timer_token {
    using impl_type = detail::wheel_impl<Clock, Locking, Core>;

public:
    using clock_type = Clock;
    using time_point = typename Clock::time_point;

    constexpr basic_timer_token() noexcept = default;

    /// Removes the timer. Returns whether it was pending. If so, its callable never runs.
    /// Effects: destroys the callable before this returns. But if the timer has an on_cancel callable, a later turn
    ///   runs that one, and destroys both.
    /// Errors: std::bad_alloc, only with an on_cancel callable; the timer stays pending.
    // always_inline, as all that follows: see wheel_impl::schedule(). A delay that the caller writes as a constant is
    // converted and checked by the compiler then.
    COGWHEEL_ALWAYS_INLINE bool cancel() const { return target_ != nullptr && target_->cancel(id_); }

    /// Moves the timer to `when`: a duration from now, a point in time, or a deadline. Returns false if it is not
    /// pending. In addition to the wheel's lock, and a clock reading for a duration, a later expiry usually costs one
    /// store. Errors: std::bad_alloc; the timer keeps its expiry.
    template <detail::when<Clock> When>
    COGWHEEL_ALWAYS_INLINE bool reschedule(const When& when) const {
        return target_ != nullptr && target_->reschedule(id_, detail::time_of<Clock>(when));
    }

    bool pending() const { return target_ != nullptr && target_->pending(id_); }

    /// Returns what has become of the timer. The wheel knows how a timer ended until another timer takes over its
    /// memory, often the next one that is scheduled. It never knows it of a callable with an allocator of its own, or
    /// of a large one (more than about 480 bytes): such timers are pending or stale.
    timer_state state() const { return target_ != nullptr ? target_->state(id_) : timer_state::stale; }

    /// Returns the start of the tick at which the timer is due, or time_point::min() if the timer is not pending.
    time_point expiry() const { return target_ != nullptr ? target_->expiry(id_) : time_point::min(); }

    /// Returns the time left until expiry(), or zero if none is left or the timer is not pending.
    typename Clock::duration remaining() const {
        const time_point at = expiry();
        if (at == time_point::min()) return Clock::duration::zero();
        const time_point now = Clock::now();
        return at > now ? at - now : Clock::duration::zero();
    }

    /// Returns false for the empty token only. True does not mean that the timer is pending.
    explicit constexpr operator bool() const noexcept { return target_ != nullptr; }
    friend constexpr bool operator==(basic_timer_token, basic_timer_token) = default;

    /// Prints "timer INDEX:GENERATION STATE"; index and generation name the timer in its wheel. With fmt, print
    /// fmt::streamed(token).
    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, basic_timer_token t) {
        return out << "timer " << t.id_.index << ':' << t.id_.generation << ' ' << to_string(t.state()).data();
    }

private:
    friend impl_type;

    constexpr basic_timer_token(impl_type& target, timer_id id) noexcept : target_(&target), id_(id) {}

    impl_type* target_ = nullptr;
    timer_id id_;
};

/// The token of a timer_wheel. Each type of wheel has a type of tokens: basic_timer_wheel::token_type.
using timer_token = basic_timer_token<std::chrono::steady_clock>;

/// The token of a local_timer_wheel.
using local_timer_token = basic_timer_token<std::chrono::steady_clock, single_threaded>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
