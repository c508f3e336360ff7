// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options, the states and the counts of a circuit breaker (circuit_breaker.hpp).
#pragma once

#include <cogwheel/resilience/backoff.hpp>

#include <cstdint>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

enum class circuit_state {
    closed,    ///< the breaker allows calls
    open,      ///< the breaker refuses calls
    half_open, ///< the breaker allows a few calls, as probes
};
std::string_view to_string(circuit_state) noexcept; ///< the name of the constant

/// When a breaker opens and closes. A closed breaker opens when failures_in_a_row or failure_rate is reached. 0 turns
/// that condition off; at least one must be on. Each change of state starts both counts anew.
/// Example:
///
///     cogwheel::circuit_breaker_options options{.failures_in_a_row = 0, .failure_rate = 0.5, .window = 10s};
///     options.open_for = cogwheel::backoff::exponential(1s).cap(60s).jitter(cogwheel::backoff_jitter::equal);
struct circuit_breaker_options {
    /// Opens after this many failures in a row. 0: off. If a connection with many requests ends, each one is a failure.
    std::uint32_t failures_in_a_row = 5;

    /// Opens at a failure if at least `min_calls` calls ended within `window`, and at least this share of them failed.
    /// From 0 (off) to 1. Calls that ended without success or failure do not count.
    double failure_rate = 0;

    /// The past time that the counts cover. At least 1 ms. The breaker counts in ten slices, and drops the oldest slice
    /// as a whole. So the counts cover at least nine tenths of this time.
    std::chrono::nanoseconds window = std::chrono::seconds(10);
    std::uint32_t min_calls = 20;

    /// How long the breaker stays open: the first delay, and after each failed probe the next one; the first again
    /// after it has closed. The first must be above zero. Jitter spreads the probes of a peer's clients.
    backoff open_for = backoff::constant(std::chrono::seconds(5));

    /// Probes that may be in flight at once. At least 1. The breaker never allows more than it still needs.
    std::uint32_t probes = 1;

    /// Probes that must succeed before the breaker closes. At least 1.
    std::uint32_t probes_to_close = 1;

    /// How long a half open breaker waits for its probes. If no probe starts or ends for this time, the running ones
    /// have failed, and the breaker opens again. Above zero; nanoseconds::max(): for ever. A probe that ends later
    /// counts as late. Take a longer time than the calls' own timeouts.
    std::chrono::nanoseconds probe_timeout = std::chrono::seconds(60);

    /// The random source of the jitter. None: the breaker has its own. Lifetime: must outlive the breaker and its
    /// calls.
    random_ref random = {};

    /// Checks the options. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

/// The counts of a breaker. At every moment allowed = succeeded + failed + abandoned + calls in flight.
struct circuit_stats {
    std::uint64_t allowed = 0; ///< calls, probes included
    std::uint64_t refused = 0; ///< calls, while the breaker was open, or half open with enough probes
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t abandoned = 0; ///< ended without success or failure
    std::uint64_t late = 0;      ///< succeeded or failed after the state had changed; they affect no decision
    std::uint64_t opened = 0;    ///< how many times
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
