// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A monitor's machine at times that the test passes in, and the state of the queues that it asks for.
#pragma once

#include <cogwheel/net/detail/idle_machine.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

namespace cogwheel_tests {

struct machine_rig : cogwheel::detail::idle_machine {
    struct queues {
        bool input = false;
        std::optional<std::uint64_t> output;
        int asked = 0;

        bool input_waits() {
            ++asked;
            return input;
        }
        std::optional<std::uint64_t> output_progress() {
            ++asked;
            return output;
        }
    } system;
    double factor = 1;

    explicit machine_rig(const cogwheel::idle_timeouts& limits, std::chrono::nanoseconds now = {})
        : idle_machine(limits, now, 1) {}

    step ask(std::chrono::nanoseconds now) { return next(now, factor, system); }
    bool silent_at(std::chrono::nanoseconds now) { return !ask(now).event; }
    std::chrono::nanoseconds look_at(std::chrono::nanoseconds now) {
        const step s = ask(now);
        REQUIRE_FALSE(s.event);
        return s.look_at;
    }
    cogwheel::idle_event event_at(std::chrono::nanoseconds now) {
        const step s = ask(now);
        REQUIRE(s.event);
        return *s.event;
    }
};

} // namespace cogwheel_tests
