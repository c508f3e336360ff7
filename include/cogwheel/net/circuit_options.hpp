// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a circuit breaker (circuit_breaker.hpp) is set up with, and what it tells.
#pragma once

#include <cogwheel/net/backoff.hpp>

#include <cstdint>

namespace cogwheel {

enum class circuit_state {
    closed,    ///< calls pass
    open,      ///< calls are refused
    half_open, ///< a few pass, as probes
};

/// Two ways to open, one of them on at least.
struct circuit_breaker_options {
    /// So many failures in a row. 0: off.
    std::uint32_t failures_in_a_row = 5;

    /// This share of the calls that ended within `window`, above 0 and up to 1, but not before `min_calls` have. 0: off.
    double failure_rate = 0;

    /// Seen in ten slices, of which the oldest goes as a whole: so it is nine tenths of this at the least. At least 1 ms.
    std::chrono::nanoseconds window = std::chrono::seconds(10);
    std::uint32_t min_calls = 20;

    /// How long it stays open; again and again, if probe after probe fails. Above zero. With jitter, many clients do not send
    /// their probes together.
    backoff open_for = backoff::constant(std::chrono::seconds(5));

    /// Calls in flight at once while half open: at least 1.
    std::uint32_t probes = 1;

    /// Probes that have to succeed before it closes: at least 1.
    std::uint32_t probes_to_close = 1;

    /// For the jitter. None: a small generator of its own. Lifetime: outlives the breaker.
    random_ref random = {};

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

/// Exact, at every moment: allowed = succeeded + failed + abandoned + those in flight.
struct circuit_stats {
    std::uint64_t allowed = 0;
    std::uint64_t refused = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t abandoned = 0; ///< ended without a verdict
    std::uint64_t late = 0;      ///< ended when the state they were allowed in was over: no part of any decision
    std::uint64_t opened = 0;
};

} // namespace cogwheel
