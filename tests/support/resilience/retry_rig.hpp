// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a test of async_retry needs: an operation that does what the test says, a policy without surprises, and a note
// of what came of it all.
#pragma once

#include "support/asio/scripted_operation.hpp"
#include "support/resilience/read_outcome.hpp"

#include <cogwheel/resilience/retry.hpp>

#include <doctest/doctest.h>

namespace cogwheel_tests {

using virtual_policy = cogwheel::basic_retry_policy<manual_clock>;
using virtual_attempt = cogwheel::basic_retry_attempt<manual_clock>;
using virtual_reading = reading<virtual_attempt>;
using virtual_deadline = cogwheel::basic_deadline<manual_clock>;

/// Waits of 100 ms, 200 ms, 400 ms ... without jitter.
inline virtual_policy doubling(std::uint32_t attempts = 3) {
    virtual_policy p;
    p.attempts = attempts;
    p.backoff = cogwheel::backoff::exponential(std::chrono::milliseconds(100));
    return p;
}

using retry_outcome = read_outcome<cogwheel::retry_result>;

template <class Wheel>
struct retry_rig : timeout_rig<Wheel> {
    using timeout_rig<Wheel>::timeout_rig;
    using timeout_rig<Wheel>::read;
    using timeout_rig<Wheel>::wheel;

    /// Each attempt is a read, started anew.
    auto operation() {
        return virtual_reading{[this](virtual_attempt&) -> scripted_read& { return read; }};
    }
    template <class Token>
    auto start(const virtual_policy& policy, Token&& token) {
        return cogwheel::async_retry(wheel, policy, operation(), std::forward<Token>(token));
    }

    /// The attempt that runs ends like this.
    void attempt_ends(std::error_code ec, std::size_t n = 0) {
        REQUIRE(read.pending());
        read.complete(ec, n);
        this->run();
    }
    void attempt_fails() { attempt_ends(asio::error::connection_refused); }
};

} // namespace cogwheel_tests
