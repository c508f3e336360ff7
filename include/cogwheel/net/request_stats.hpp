// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a pending_requests counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cogwheel {

/// At every moment started = answered + timed_out + failed + cancelled + in_flight: a request counts as ended as soon as that is
/// decided, a moment before its handler runs.
struct request_stats {
    std::uint64_t started = 0;
    std::uint64_t answered = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t failed = 0;    ///< fail(), fail_all(), or the wheel took no timer when the request was written
    std::uint64_t cancelled = 0; ///< cancel(), a cancellation slot, the end of the object or of the wheel's timers
    std::uint64_t refused = 0;   ///< never started: duplicate key, too many in flight, the wheel took no timer
    std::uint64_t late = 0;      ///< answers that nobody waited for, or not any more
    std::size_t in_flight = 0;

    friend bool operator==(const request_stats&, const request_stats&) = default;
};

} // namespace cogwheel
