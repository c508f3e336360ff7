// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The handle of a scheduled callable: two words that copy for nothing and are harmless once stale.
#pragma once

#include <cogwheel/wheel/timer_node.hpp>

#include <chrono>

namespace cogwheel {

namespace detail {

/// What a token needs of the wheel it came from. Lives as long as the execution context.
template <class Clock>
class token_target {
public:
    virtual bool cancel(timer_id) = 0;
    virtual bool reschedule(timer_id, std::chrono::nanoseconds delay) = 0;
    virtual bool reschedule(timer_id, std::chrono::nanoseconds delay, typename Clock::time_point now) = 0;
    virtual bool reschedule_at(timer_id, typename Clock::time_point) = 0;
    virtual bool pending(timer_id) = 0;
    virtual typename Clock::time_point expiry(timer_id) = 0;

protected:
    ~token_target() = default;
};

} // namespace detail

/// Names one scheduled callable. An empty token, one whose timer fired or was cancelled, and one whose wheel is gone answer
/// false to everything; it never names a later timer.
/// Thread safety: that of the wheel. Lifetime: any, but must not be used after the execution context is destroyed.
/// Complexity: O(1) each.
template <class Clock>
class basic_timer_token {
public:
    using clock_type = Clock;
    using time_point = typename Clock::time_point;

    constexpr basic_timer_token() noexcept = default;
    constexpr basic_timer_token(detail::token_target<Clock>& target, timer_id id) noexcept
        : target_(&target), id_(id) {}

    /// Removes the timer. True iff it was pending: then its callable never runs, and is destroyed before this returns (with
    /// an on-cancel callable: that is posted).
    bool cancel() const { return target_ != nullptr && target_->cancel(id_); }

    /// Moves the timer to `delay` from now. False if it is not pending. A later expiry is a store.
    template <class Rep, class Period>
    bool reschedule(std::chrono::duration<Rep, Period> delay) const {
        // Reads the clock over there, behind the loads of the token: nothing begins to load before a reading ends, and the miss of a
        // token that is not at hand would be waited for as well.
        return target_ != nullptr && target_->reschedule(id_, saturate_to_ns(delay));
    }
    /// The same, with a clock reading that the caller has at hand: the reading is most of the cost.
    template <class Rep, class Period>
    bool reschedule(std::chrono::duration<Rep, Period> delay, time_point now) const {
        return target_ != nullptr && target_->reschedule(id_, saturate_to_ns(delay), now);
    }
    bool reschedule_at(time_point at) const { return target_ != nullptr && target_->reschedule_at(id_, at); }

    bool pending() const { return target_ != nullptr && target_->pending(id_); }

    /// When it fires at the earliest: the deadline rounded up to a tick. time_point::min() if it is not pending.
    time_point expiry() const { return target_ != nullptr ? target_->expiry(id_) : time_point::min(); }

    /// Time left to expiry(); zero if that is past, or the timer is not pending.
    typename Clock::duration remaining() const {
        const time_point at = expiry();
        if (at == time_point::min()) return Clock::duration::zero();
        const time_point now = Clock::now();
        return at > now ? at - now : Clock::duration::zero();
    }

    explicit constexpr operator bool() const noexcept { return target_ != nullptr; }
    friend constexpr bool operator==(basic_timer_token, basic_timer_token) = default;

private:
    detail::token_target<Clock>* target_ = nullptr;
    timer_id id_;
};

using timer_token = basic_timer_token<std::chrono::steady_clock>;

} // namespace cogwheel
