// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A deadline that functions pass on to those they call. The receiver of a request makes it; each step tightens it:
//
//     cogwheel::deadline d = cogwheel::deadline::after(2s); // the caller waits that long
//     co_await read_header(socket, d.min(500ms));           // 500 ms, or the caller's deadline if that is sooner
//     co_await socket.async_connect(peer, timeout(wheel, d, asio::use_awaitable));
//
// A deadline is a point in time: a step that ends early leaves its time to the next, and no function adds up timeouts.
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A point in time, or none. As large as one time_point. All member functions are O(1) and noexcept, and saturate.
/// Parameters: `now`: a reading of the clock. Overloads without it read the clock.
template <class Clock>
class basic_deadline {
public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    /// Makes no deadline: it never passes.
    constexpr basic_deadline() noexcept = default;
    constexpr explicit basic_deadline(time_point expiry) noexcept : expiry_(expiry) {}

    /// Returns the deadline that passes `delay` after now: zero or less has passed already, an overflow never passes.
    template <class Rep, class Period>
    static basic_deadline after(std::chrono::duration<Rep, Period> delay) noexcept {
        return after(delay, Clock::now());
    }
    template <class Rep, class Period>
    static constexpr basic_deadline after(std::chrono::duration<Rep, Period> delay, time_point now) noexcept {
        using std::chrono::nanoseconds;
        const nanoseconds at =
            detail::saturating_add(detail::saturate_to_ns(now.time_since_epoch()), detail::saturate_to_ns(delay));
        if (at == nanoseconds::max()) return {};
        return basic_deadline(time_point(detail::ceil_to<duration>(at)));
    }

    /// Returns the point in time; time_point::max() if there is no deadline.
    constexpr time_point expiry() const noexcept { return expiry_; }
    /// Converts wherever a time point is taken: schedule(d, f), timeout(d, token).
    constexpr operator time_point() const noexcept { return expiry_; } // NOLINT(google-explicit-constructor)

    /// Returns true if there is a deadline.
    constexpr explicit operator bool() const noexcept { return expiry_ != time_point::max(); }

    /// Returns true if the deadline has passed.
    bool expired() const noexcept { return expired(Clock::now()); }
    constexpr bool expired(time_point now) const noexcept { return now >= expiry_; }

    /// Returns the time that is left: zero after the deadline, the longest duration if there is none.
    duration remaining() const noexcept { return remaining(Clock::now()); }
    constexpr duration remaining(time_point now) const noexcept {
        if (expired(now)) return duration::zero();
        if (!*this) return duration::max();
        std::int64_t left = 0;
        if (detail::sub_overflow(detail::saturate_to_ns(expiry_.time_since_epoch()).count(),
                                 detail::saturate_to_ns(now.time_since_epoch()).count(), left))
            return duration::max();
        return detail::ceil_to<duration>(std::chrono::nanoseconds(left));
    }

    /// Returns the earlier deadline.
    constexpr basic_deadline min(basic_deadline other) const noexcept {
        return basic_deadline(std::min(expiry_, other.expiry_));
    }
    /// Returns the earlier of this deadline and the one that passes `limit` after now.
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

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
