// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel on a clock that the test turns, and the context it runs on.
#pragma once

#include <cogwheel/testing/manual_clock.hpp>

#include <asio/io_context.hpp>

namespace cogwheel_tests {

using cogwheel::testing::manual_clock;
using manual_local_timer_wheel = cogwheel::basic_timer_wheel<manual_clock, cogwheel::single_threaded>;

/// Runs what is ready, also after the context ran out of work or was stopped. Returns how many handlers ran.
inline std::size_t run_ready(asio::io_context& io) {
    io.restart();
    return io.poll();
}

/// Lets `by` pass, then runs what is ready.
inline std::size_t pass(asio::io_context& io, std::chrono::nanoseconds by) {
    manual_clock::advance(by);
    return run_ready(io);
}

struct virtual_wheel {
    asio::io_context io;
    cogwheel::testing::manual_timer_wheel wheel;

    explicit virtual_wheel(const cogwheel::wheel_options& options = {}) : wheel(io, options) {}

    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

/// The promise that holds at every moment.
inline bool counts_agree(const cogwheel::wheel_stats& s) { return s.scheduled == s.fired + s.cancelled + s.pending; }

} // namespace cogwheel_tests
