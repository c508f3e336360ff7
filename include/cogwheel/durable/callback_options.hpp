// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options and the counts of a callback_sender.
#pragma once

#include <cogwheel/durable/ssrf_guard.hpp>
#include <cogwheel/durable/webhook_signature.hpp>
#include <cogwheel/resilience/circuit_options.hpp>
#include <cogwheel/resilience/retry_budget.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The options of a callback_sender.
struct callback_options {
    /// Keys of the signature. With several, each signs: for a change of keys. None: callbacks are not signed.
    std::vector<webhook_key> keys{};

    /// The header user-agent. Visible ASCII and spaces, at most 255 bytes; empty: not sent.
    std::string user_agent = "cogwheel";

    /// Requests in flight at once, in all and to one host. Both at least 1. A host is a scheme, a name and a port.
    std::size_t max_in_flight = 256;
    std::size_t max_per_host = 64;

    /// Callbacks that may wait for a place in flight. Further ones are refused at once (too_many_waiting). Hosts take
    /// turns, so a slow host does not hold up the others.
    std::size_t max_waiting = 10'000;

    /// Connections that stay open for the next request. 0: none. None is used after 45 s without a request, or 10 min
    /// after it was opened.
    std::size_t max_idle_connections = 256;

    /// The limit on the resolution of the name, the connection and TLS. At least 1 ms.
    std::chrono::nanoseconds connect_timeout = std::chrono::seconds(5);
    /// The limit on the whole request, from its start to the last byte of the answer. At least 1 ms.
    std::chrono::nanoseconds request_timeout = std::chrono::seconds(30);
    /// Ends a request that has moved fewer bytes a second than this during low_speed_period, which has whole seconds.
    /// It also counts while the receiver thinks. 0: off.
    std::size_t low_speed = 0;
    std::chrono::seconds low_speed_period{10};

    /// Bytes of an answer's body that the result keeps. If the body is longer, the connection is closed, and the status
    /// alone decides. At most 1 MB.
    std::size_t max_answer = std::size_t{64} << 10;

    /// The longest delay that a receiver can ask for by Retry-After. At most 365 days.
    static constexpr std::chrono::seconds most_retry_after = std::chrono::hours(24 * 365);
    std::chrono::seconds max_retry_after = std::chrono::hours(24);

    /// Statuses from 400 on after which the task is not tried again. Of Standard Webhooks: 410. All 3xx are such, too:
    /// redirects are not followed, because a receiver could send the request to an address that is not checked by its
    /// owner.
    std::vector<int> final_statuses{410};

    /// The circuit breaker of each host. Failures are: no answer, and statuses from 500 on. Faults of this process do
    /// not count, such as no free descriptor.
    circuit_breaker_options circuit{};
    bool use_circuit = true;

    /// The retry budget of each host. nullopt: none.
    std::optional<retry_budget_options> budget = retry_budget_options{};

    /// Hosts whose circuit and budget are remembered. Beyond, the one that was idle the longest is forgotten. At least
    /// 1.
    std::size_t max_hosts = 1'000;

    /// The addresses that callbacks may reach.
    ssrf_guard guard{};

    /// A file of certificates (PEM) that sign those of the receivers. Empty: the system's.
    std::string ca_file{};

    /// Checks the options. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

/// The counts of a sender. started = succeeded + failed_for_good + try_again + aborted + in_flight.
struct callback_stats {
    std::size_t in_flight = 0;
    std::size_t waiting = 0;
    std::size_t hosts = 0;
    std::uint64_t started = 0; ///< given to libcurl
    std::uint64_t succeeded = 0;
    std::uint64_t failed_for_good = 0;
    std::uint64_t try_again = 0;
    std::uint64_t aborted = 0;           ///< in flight: cancelled, closed, or ended by a fault of this process
    std::uint64_t refused = 0;           ///< never started: limits, circuit, budget, a bad callback
    std::uint64_t circuit_refused = 0;   ///< of these, by an open circuit
    std::uint64_t budget_refused = 0;    ///< of these, by a spent budget
    std::uint64_t connections = 0;       ///< opened
    std::uint64_t addresses_refused = 0; ///< ended with address_refused
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
