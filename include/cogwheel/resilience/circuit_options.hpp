// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options, the states and the counts of a circuit breaker (circuit_breaker.hpp).
#pragma once

#include <cogwheel/resilience/backoff.hpp>

#include <cstdint>

namespace cogwheel {

enum class circuit_state {
    closed,    ///< the breaker allows calls
    open,      ///< the breaker refuses calls
    half_open, ///< the breaker allows a few calls, as probes
};

/// When a breaker opens and closes. Either failures_in_a_row or failure_rate opens it, or both do.
/// Example:
///
///     cogwheel::circuit_breaker_options options{.failures_in_a_row = 0, .failure_rate = 0.5, .window = 10s};
///     options.open_for = cogwheel::backoff::exponential(1s).cap(60s).jitter(cogwheel::backoff_jitter::equal);
struct circuit_breaker_options {
    /// Opens after this many failures in a row. 0: off.
    std::uint32_t failures_in_a_row = 5;

    /// Opens when this share of the calls that ended within `window` have failed, once `min_calls` calls have ended
    /// there. Above 0 and up to 1. 0: off.
    double failure_rate = 0;

    /// The time for which the breaker counts calls. At least 1 ms. The breaker counts in ten slices and drops the
    /// oldest slice as a whole. So the counts cover at least nine tenths of this time.
    std::chrono::nanoseconds window = std::chrono::seconds(10);
    std::uint32_t min_calls = 20;

    /// How long the breaker stays open. Each failed probe takes the next delay; closing starts with the first one
    /// again. Above zero. With jitter, the clients of one peer do not send their probes at the same time.
    backoff open_for = backoff::constant(std::chrono::seconds(5));

    /// Probes that may be in flight at once. At least 1.
    std::uint32_t probes = 1;

    /// Probes that must succeed before the breaker closes. At least 1.
    std::uint32_t probes_to_close = 1;

    /// The random source of the jitter. None: the breaker has a small generator of its own.
    /// Lifetime: must outlive the breaker and its calls.
    random_ref random = {};

    /// Checks the options. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

/// The counts of a breaker. At every moment allowed = succeeded + failed + abandoned + calls in flight.
struct circuit_stats {
    std::uint64_t allowed = 0;
    std::uint64_t refused = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t abandoned = 0; ///< ended without a verdict
    std::uint64_t late = 0;      ///< ended after the state that allowed them; no decision counts them
    std::uint64_t opened = 0;
};

} // namespace cogwheel
