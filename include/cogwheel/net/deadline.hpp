// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A deadline that travels: made where a request comes in, handed down the call chain, tightened by each step's own limit.
//
//     cogwheel::deadline d = cogwheel::deadline::after(2s);               // the caller waits that long
//     co_await read_header(socket, d.min(500ms));                         // this step's limit, or the caller's if that is sooner
//     co_await socket.async_connect(peer, timeout_at(wheel, d.expiry(), asio::use_awaitable));
//
// A point, not a duration: what one step does not use the next one has, and nobody adds limits up.
#pragma once

#include <cogwheel/wheel/tick.hpp>

#include <algorithm>

namespace cogwheel {

/// A value of one time_point. All operations are O(1) and noexcept, and saturate; those without a reading of the clock read it.
template <class Clock>
class basic_deadline {
public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    /// None: never comes.
    constexpr basic_deadline() noexcept = default;
    constexpr explicit basic_deadline(time_point expiry) noexcept : expiry_(expiry) {}

    /// `delay` from now, or from a reading that the caller has at hand. Zero or less has come already.
    template <class Rep, class Period>
    static basic_deadline after(std::chrono::duration<Rep, Period> delay) noexcept {
        return after(delay, Clock::now());
    }
    template <class Rep, class Period>
    static constexpr basic_deadline after(std::chrono::duration<Rep, Period> delay, time_point now) noexcept {
        using std::chrono::nanoseconds;
        const nanoseconds at = saturating_add(saturate_to_ns(now.time_since_epoch()), saturate_to_ns(delay));
        if (at == nanoseconds::max()) return {};
        return basic_deadline(time_point(std::chrono::ceil<duration>(at)));
    }

    /// The point; time_point::max() if none.
    constexpr time_point expiry() const noexcept { return expiry_; }

    /// Is there one at all?
    constexpr explicit operator bool() const noexcept { return expiry_ != time_point::max(); }

    bool expired() const noexcept { return expired(Clock::now()); }
    constexpr bool expired(time_point now) const noexcept { return now >= expiry_; }

    /// What is left: zero once it has come, the longest duration if none.
    duration remaining() const noexcept { return remaining(Clock::now()); }
    constexpr duration remaining(time_point now) const noexcept {
        if (expired(now)) return duration::zero();
        if (!*this) return duration::max();
        const auto left =
            saturating_add(saturate_to_ns(expiry_.time_since_epoch()), -saturate_to_ns(now.time_since_epoch()));
        return std::chrono::ceil<duration>(left);
    }

    /// The sooner one.
    constexpr basic_deadline min(basic_deadline other) const noexcept {
        return basic_deadline(std::min(expiry_, other.expiry_));
    }
    /// This one, or `limit` from now if that is sooner.
    template <class Rep, class Period>
    basic_deadline min(std::chrono::duration<Rep, Period> limit) const noexcept {
        return min(after(limit));
    }
    template <class Rep, class Period>
    constexpr basic_deadline min(std::chrono::duration<Rep, Period> limit, time_point now) const noexcept {
        return min(after(limit, now));
    }

    friend constexpr auto operator<=>(basic_deadline, basic_deadline) = default;

private:
    time_point expiry_ = time_point::max();
};

using deadline = basic_deadline<std::chrono::steady_clock>;

} // namespace cogwheel
