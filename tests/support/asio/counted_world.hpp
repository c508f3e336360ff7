// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A world with a clock that is slewed, one that is not, and a processor's counter, to be turned by hand. Each reading
// takes time, and a test can suspend the thread before it.
#pragma once

#include <cogwheel/asio/detail/clock/tick_clock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>

namespace cogwheel_tests {

/// The world. One at a time; every test begins with begin().
struct counted_world {
    static constexpr std::int64_t per_reading = 20; // ns

    static inline double frequency = 2.6; // counts a ns
    static inline double rate = 1;        // of the clock: ns a ns
    static inline double unslewed = 0, clock = 0, count = 0;
    static inline bool trusted = true;
    static inline std::function<void()> before_reading{}; // may pass() or step()

    static void begin(double counts_per_ns = 2.6) {
        frequency = counts_per_ns;
        rate = 1;
        unslewed = 5e12;
        clock = 3e12;
        count = 7e12;
        trusted = true;
        before_reading = nullptr;
    }
    static void pass(double ns) {
        unslewed += ns;
        clock += ns * rate;
        count += ns * frequency;
    }
    static void step_counter(double ns) { count += ns * frequency; }

    static void read() {
        if (before_reading) before_reading();
        pass(per_reading);
    }
};

/// The slewed clock of the world.
struct counted_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<counted_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        counted_world::read();
        return time_point(duration(static_cast<std::int64_t>(counted_world::clock)));
    }
};

} // namespace cogwheel_tests

template <>
struct cogwheel::detail::tick_counter<cogwheel_tests::counted_clock> {
    static constexpr bool exists = true;
    static std::uint64_t read() noexcept {
        cogwheel_tests::counted_world::read();
        return static_cast<std::uint64_t>(cogwheel_tests::counted_world::count);
    }
    static std::chrono::nanoseconds unslewed() noexcept {
        cogwheel_tests::counted_world::read();
        return std::chrono::nanoseconds(static_cast<std::int64_t>(cogwheel_tests::counted_world::unslewed));
    }
    static bool is_usable(bool wanted) noexcept { return wanted && cogwheel_tests::counted_world::trusted; }
};
