// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel on which something of each kind has happened, for those who show counts.
#pragma once

#include "support/asio/virtual_wheel.hpp"

namespace cogwheel_tests {

struct busy_wheel : virtual_wheel {
    busy_wheel() : virtual_wheel({.tick = std::chrono::milliseconds(10), .max_pending = 5, .work_per_turn = 2}) {
        using namespace std::chrono_literals;
        for (int i = 0; i < 3; ++i) wheel.schedule(10ms, [] { manual_clock::advance(300us); });
        wheel.schedule(1h, [] {}).cancel();
        wheel.async_wait(2h, [](std::error_code) {});
        manual_clock::advance(10ms);
        pass(400us);
        for (int i = 0; i < 5; ++i) wheel.schedule(5s, [] {}); // one too many
    }
    ~busy_wheel() {
        wheel.stop();
        run();
    }
};

} // namespace cogwheel_tests
