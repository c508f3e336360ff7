// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options and the counts of pending_requests (pending_requests.hpp).
#pragma once

#include <cogwheel/detail/which_asio.hpp>

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

/// How many requests a pending_requests takes.
struct request_options {
    /// Requests that may be in flight at once. At least 1. More are refused with errc::too_many_requests.
    std::size_t max_in_flight = std::numeric_limits<std::size_t>::max();

    /// The table of keys has room for this many requests before it grows. 0 .. 2^31, and at most max_in_flight.
    std::size_t reserve = 0;

    /// Checks the options. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
