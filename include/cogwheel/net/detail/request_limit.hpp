// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/resilience/deadline.hpp>

#include <chrono>
#include <concepts>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// How long an answer may take: a duration, a point in time, a deadline, or a duration that counts from written(). Zero
/// or less passes at once. Durations above 291 years, such as hours::max(), never pass. Reads no clock.
template <class Clock>
class request_limit {
public:
    using clock_type = Clock;
    using time_point = typename Clock::time_point;
    using deadline_type = basic_deadline<Clock>;

    /// Makes a timeout that counts from the start of the request.
    template <class Rep, class Period>
    constexpr request_limit(std::chrono::duration<Rep, Period> timeout) noexcept
        : timeout_(detail::saturate_to_ns(timeout)) {}

    /// Makes a timeout that passes at a point in time or a deadline. With deadline_type() it never passes.
    template <std::convertible_to<time_point> Until>
    constexpr request_limit(const Until& until) noexcept : until_(detail::to_point<Clock>(until)) {}

    /// Returns a timeout that counts from pending_requests::written().
    template <class Rep, class Period>
    static constexpr request_limit from_write(std::chrono::duration<Rep, Period> timeout,
                                              deadline_type until = {}) noexcept {
        request_limit limit(timeout);
        limit.until_ = until;
        limit.from_write_ = true;
        return limit;
    }

    /// Returns when the timeout passes, as far as that is known at the start of the request.
    constexpr deadline_type at_start(time_point now) const noexcept {
        return from_write_ ? until_ : until_.min(timeout_, now);
    }
    /// Returns when the timeout passes if the request is written at `now`. Preconditions: is_from_write().
    constexpr deadline_type at_write(time_point now) const noexcept { return until_.min(timeout_, now); }

    constexpr bool is_from_write() const noexcept { return from_write_; }

private:
    std::chrono::nanoseconds timeout_ = std::chrono::nanoseconds::max();
    deadline_type until_;
    bool from_write_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
