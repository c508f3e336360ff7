// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a test of async_retry needs: an operation that does what the test says, a policy without surprises, and a note of what
// came of it all.
#pragma once

#include "support/scripted_operation.hpp"

#include <cogwheel/net/retry.hpp>

#include <doctest/doctest.h>

namespace cogwheel_tests {

using virtual_policy = cogwheel::basic_retry_policy<manual_clock>;
using virtual_attempt = cogwheel::basic_retry_attempt<manual_clock>;
using virtual_deadline = cogwheel::basic_deadline<manual_clock>;

/// Waits of 100 ms, 200 ms, 400 ms ... without jitter.
inline virtual_policy doubling(std::uint32_t attempts = 3) {
    virtual_policy p;
    p.attempts = attempts;
    p.backoff = cogwheel::backoff::exponential(std::chrono::milliseconds(100));
    return p;
}

/// What a retry of a read completed with, and how often.
struct retry_outcome {
    std::error_code ec;
    cogwheel::retry_result result;
    std::size_t bytes = 0;
    int times = 0;

    auto handler() {
        return [this](std::error_code e, const cogwheel::retry_result& r, std::size_t n) {
            ec = e;
            result = r;
            bytes = n;
            ++times;
        };
    }
};

/// A read that is over soon: by a post, or, as no operation should, before its initiating function returns.
enum class ends { posted, inside };
template <class Token>
auto async_quick_read(asio::io_context& io, ends how, std::error_code ec, std::size_t n, Token&& token) {
    return asio::async_initiate<Token, void(std::error_code, std::size_t)>(
        [&io, how, ec, n](auto handler) {
            if (how == ends::inside) return std::move(handler)(ec, n);
            const auto at = asio::get_associated_executor(handler, io.get_executor());
            asio::post(at, [h = std::move(handler), ec, n]() mutable { std::move(h)(ec, n); });
        },
        token);
}

template <class Wheel>
struct retry_rig : timeout_rig<Wheel> {
    using timeout_rig<Wheel>::timeout_rig;
    using timeout_rig<Wheel>::read;
    using timeout_rig<Wheel>::wheel;

    /// Each attempt is a read, started anew.
    auto operation() {
        return [this](auto token) { return read.async_run(token); };
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
