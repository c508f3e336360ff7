// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a test of async_hedge needs: a read for each attempt, which does what the test says, and a note of what came of
// it all.
#pragma once

#include "support/asio/scripted_operation.hpp"
#include "support/resilience/read_outcome.hpp"

#include <cogwheel/resilience/hedge.hpp>

#include <doctest/doctest.h>

#include <deque>

namespace cogwheel_tests {

using hedge_outcome = read_outcome<cogwheel::hedge_result>;

using hedge_reading = reading<cogwheel::hedge_attempt>;

/// A predicate: another attempt follows each failure.
inline bool any_error(const std::error_code&) { return true; }

template <class Wheel>
struct hedge_rig {
    asio::io_context io;
    Wheel wheel;
    std::deque<scripted_read> reads; ///< one for each attempt
    std::uint32_t started = 0;

    explicit hedge_rig(const cogwheel::wheel_options& options = {}) : wheel(io, options) {
        for (int i = 0; i < 4; ++i) {
            scripted_read& read = reads.emplace_back(io.get_executor());
            read.on_cancel = [&read](asio::cancellation_type) {
                if (read.pending()) read.complete(asio::error::operation_aborted, 0);
            };
        }
    }

    void be_deaf() {
        for (auto& read : reads) read.on_cancel = nullptr;
    }
    auto operation() {
        return hedge_reading{[this](cogwheel::hedge_attempt& attempt) -> scripted_read& {
            started = attempt.number();
            return reads[attempt.number() - 1];
        }};
    }
    template <class Token>
    auto start(const cogwheel::hedge_options& options, Token&& token) {
        return cogwheel::async_hedge(wheel, options, operation(), std::forward<Token>(token));
    }
    /// The attempt ends like this. They are counted from 1.
    void ends(std::size_t number, std::error_code ec, std::size_t n = 0) {
        REQUIRE(reads[number - 1].pending());
        reads[number - 1].complete(ec, n);
        run();
    }
    std::size_t cancelled(std::size_t number) const { return reads[number - 1].cancelled.size(); }

    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

} // namespace cogwheel_tests
