// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A monitor on a clock that the test turns, and what its async_idle completed with.
#pragma once

#include "support/asio/scripted_operation.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/net/idle_monitor.hpp>

#include <vector>

namespace cogwheel_tests {

struct idle_log {
    struct entry {
        std::error_code ec;
        cogwheel::idle_event event;
    };
    std::vector<entry> entries;

    auto handler() {
        return [this](std::error_code ec, cogwheel::idle_event event) { entries.push_back({ec, event}); };
    }
    std::size_t size() const { return entries.size(); }
    const entry& last() const { return entries.back(); }
    std::error_code last_error() const { return entries.empty() ? std::error_code() : entries.back().ec; }
};

template <class Wheel>
struct idle_rig {
    asio::io_context io;
    Wheel wheel;
    cogwheel::idle_monitor<Wheel> idle;
    idle_log log;

    explicit idle_rig(const cogwheel::idle_timeouts& limits,
                      const cogwheel::wheel_options& options = {.tick = std::chrono::milliseconds(1)})
        : wheel(io, options), idle(wheel, limits) {}

    void wait() { idle.async_idle(log.handler()); }
    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

} // namespace cogwheel_tests
