// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options, the timeouts and the counts of pending_requests (pending_requests.hpp).
#pragma once

#include <cogwheel/resilience/deadline.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The counts of a pending_requests. At every moment started = answered + timed_out + failed + cancelled + in_flight. A
/// request counts as ended when its end is decided, shortly before its handler runs.
struct request_stats {
    std::uint64_t started = 0;
    std::uint64_t answered = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t failed = 0;    ///< by fail() or fail_all(), or the wheel took no timer in written()
    std::uint64_t cancelled = 0; ///< by cancel() or a cancellation slot; the object ended; the wheel dropped the timer
    std::uint64_t refused = 0;   ///< not started: duplicate key, too many in flight, or the wheel took no timer
    std::uint64_t late = 0;      ///< complete() and fail() for requests that had ended or were never started
    std::size_t in_flight = 0;

    friend bool operator==(const request_stats&, const request_stats&) = default;
};

/// How long an answer may take: a duration, a deadline, or a duration that counts from written().
/// A value; durations and deadlines convert to it. Zero or less passes at once. Durations above 291 years, such as
/// hours::max(), never pass. It reads no clock.
/// Example:
///
///     requests.async_wait(1, 2s, token);                                        // from the start
///     requests.async_wait(2, cogwheel::deadline::after(3s).min(500ms), token);  // at a point in time
///     requests.async_wait(3, cogwheel::request_timeout::from_write(2s), token); // from requests.written(3)
template <class Clock>
class basic_request_timeout {
public:
    using clock_type = Clock;
    using time_point = typename Clock::time_point;
    using deadline_type = basic_deadline<Clock>;

    /// Makes a timeout that counts from the start of the request.
    template <class Rep, class Period>
    constexpr basic_request_timeout(std::chrono::duration<Rep, Period> timeout) noexcept
        : timeout_(detail::saturate_to_ns(timeout)) {}

    /// Makes a timeout that passes at a deadline. With deadline_type() it never passes.
    constexpr basic_request_timeout(deadline_type until) noexcept : until_(until) {}

    /// Returns a timeout that counts from pending_requests::written(), for requests that may wait in a send queue for
    /// long. Until then it does not run. With `until`, the request also times out at that deadline, written or not.
    template <class Rep, class Period>
    static constexpr basic_request_timeout from_write(std::chrono::duration<Rep, Period> timeout,
                                                      deadline_type until = {}) noexcept {
        basic_request_timeout limit(timeout);
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

using request_timeout = basic_request_timeout<std::chrono::steady_clock>;

/// How many requests a pending_requests takes.
struct request_options {
    /// Requests that may be in flight at once. At least 1. More are refused with net_errc::too_many_requests.
    std::size_t max_in_flight = std::numeric_limits<std::size_t>::max();

    /// Requests to reserve room for: up to this number in flight, the table of keys does not grow. 0 .. 2^31, and at
    /// most max_in_flight.
    std::size_t reserve = 0;

    /// Checks the options. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
