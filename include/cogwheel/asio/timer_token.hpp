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

/// The state of a scheduled callable.
enum class timer_state {
    pending,
    fired,     ///< it runs, has run, or is on the way to its executor
    cancelled, ///< by its token, cancel_all(), stop() or the wheel's destructor
    stale      ///< the timer has ended, and the wheel no longer knows how; or the token is empty
};

constexpr std::string_view to_string(timer_state state) noexcept {
    return detail::constant_name(state, {"pending", "fired", "cancelled", "stale"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Clock, class Locking, timing_wheel Core>
class wheel_impl; // calls of a token need <cogwheel/asio/timer_wheel.hpp>, which defines it
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Names one scheduled callable. It never names a later timer.
/// A token is stale once its timer has fired or was cancelled, or its wheel was destroyed. A default-constructed token
/// is empty. On both, cancel(), reschedule() and pending() return false.
/// Complexity: O(1) for each function. Thread safety: that of the wheel.
/// Lifetime: none of these functions may be called after the wheel's execution context is destroyed.
template <class Clock, class Locking = multi_threaded, timing_wheel Core = hashed_wheel>
class basic_timer_token {
    using impl_type = detail::wheel_impl<Clock, Locking, Core>;

public:
    using clock_type = Clock;
    using time_point = typename Clock::time_point;

    constexpr basic_timer_token() noexcept = default;

    /// Cancels the timer. Returns true if it was pending: its callable then never runs.
    /// Effects: destroys the callable before this returns. But if the timer has an on_cancel callable, a later turn
    ///   runs that callable, and destroys both.
    /// Errors: std::bad_alloc, only with an on_cancel callable; the timer stays pending.
    // always_inline, as below: see wheel_impl::schedule(). The compiler then converts and checks a constant delay.
    COGWHEEL_ALWAYS_INLINE bool cancel() const { return target_ != nullptr && target_->cancel(id_); }

    /// Moves the timer to `when`: a duration from now, a point in time, or a deadline. Returns false if it is not
    /// pending. A later expiry usually costs the lock, one store, and for a duration a clock reading. Errors:
    /// std::bad_alloc; the expiry stays.
    template <detail::when<Clock> When>
    COGWHEEL_ALWAYS_INLINE bool reschedule(const When& when) const {
        return target_ != nullptr && target_->reschedule(id_, detail::time_of<Clock>(when));
    }

    bool pending() const { return target_ != nullptr && target_->pending(id_); }

    /// Returns the state of the timer. The wheel knows how a timer ended until another timer, often the next one, takes
    /// over its memory. A callable with its own allocator, or of more than about 480 bytes, is only pending or stale.
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

    /// Prints "timer INDEX:GENERATION STATE": the first two name the timer in its wheel. For fmt: fmt::streamed(token).
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
