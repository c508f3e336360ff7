// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How long an answer may take: a duration, a deadline that travels, or a duration that counts only once the request is written.
#pragma once

#include <cogwheel/net/deadline.hpp>

namespace cogwheel {

/// A value. Durations and deadlines become one by themselves. Zero or less has passed at once; hours::max() and the like never
/// pass. Time is passed in.
template <class Clock>
class basic_request_limit {
public:
    using clock_type = Clock;
    using time_point = typename Clock::time_point;
    using deadline_type = basic_deadline<Clock>;

    /// `timeout` from the start of the request.
    template <class Rep, class Period>
    constexpr basic_request_limit(std::chrono::duration<Rep, Period> timeout) noexcept
        : timeout_(saturate_to_ns(timeout)) {}

    /// At a point in time. deadline_type() is no limit at all.
    constexpr basic_request_limit(deadline_type until) noexcept : until_(until) {}

    /// `timeout` from the moment it is said to be written, for queues that may take longer than the peer. `until` counts from
    /// the start, and cuts the timeout short as well.
    template <class Rep, class Period>
    static constexpr basic_request_limit from_write(std::chrono::duration<Rep, Period> timeout,
                                                    deadline_type until = {}) noexcept {
        basic_request_limit limit(timeout);
        limit.until_ = until;
        limit.from_write_ = true;
        return limit;
    }

    /// When it passes, as far as is known when the request starts.
    constexpr deadline_type at_start(time_point now) const noexcept {
        return from_write_ ? until_ : until_.min(timeout_, now);
    }
    /// The same when it is written. Preconditions: is_from_write().
    constexpr deadline_type at_write(time_point now) const noexcept { return until_.min(timeout_, now); }

    constexpr bool is_from_write() const noexcept { return from_write_; }

private:
    std::chrono::nanoseconds timeout_ = std::chrono::nanoseconds::max();
    deadline_type until_;
    bool from_write_ = false;
};

using request_limit = basic_request_limit<std::chrono::steady_clock>;

} // namespace cogwheel
