// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The two ways to wait behind one face, each with and without a lock: what a wait promises is checked on all four.
#pragma once

#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <list>
#include <utility>

namespace cogwheel_tests {

/// The timer object that stands on such a wheel.
template <class Wheel>
using timer_on = decltype(cogwheel::basic_wheel_timer(std::declval<const Wheel&>()));

/// wait(delay, token) is the wheel's own.
template <class Wheel>
struct waits_of_wheel {
    using wheel_type = Wheel;

    asio::io_context io;
    Wheel wheel;

    explicit waits_of_wheel(const cogwheel::wheel_options& options = {}) : wheel(io, options) {}

    template <class Token>
    auto wait(std::chrono::nanoseconds delay, Token&& token) {
        return wheel.async_wait(delay, std::forward<Token>(token));
    }
    template <class Token>
    auto wait_until(manual_clock::time_point at, Token&& token) {
        return wheel.async_wait(at, std::forward<Token>(token));
    }

    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

/// wait(delay, token) is that of a timer made for it, which lives as long as the bench.
template <class Wheel>
struct waits_of_timers {
    using wheel_type = Wheel;
    using timer_type = timer_on<Wheel>;

    asio::io_context io;
    Wheel wheel;
    std::list<timer_type> timers;

    explicit waits_of_timers(const cogwheel::wheel_options& options = {}) : wheel(io, options) {}

    template <class Token>
    auto wait(std::chrono::nanoseconds delay, Token&& token) {
        return timers.emplace_back(wheel, delay).async_wait(std::forward<Token>(token));
    }
    template <class Token>
    auto wait_until(manual_clock::time_point at, Token&& token) {
        return timers.emplace_back(wheel, at).async_wait(std::forward<Token>(token));
    }

    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

using on_wheel = waits_of_wheel<cogwheel::testing::manual_timer_wheel>;
using on_local_wheel = waits_of_wheel<manual_local_timer_wheel>;
using on_timer = waits_of_timers<cogwheel::testing::manual_timer_wheel>;
using on_local_timer = waits_of_timers<manual_local_timer_wheel>;

/// Timer objects alone: what a wheel's own wait has no counterpart for.
template <class Wheel>
struct virtual_timers {
    using wheel_type = Wheel;
    using timer_type = timer_on<Wheel>;

    asio::io_context io;
    Wheel wheel;

    explicit virtual_timers(const cogwheel::wheel_options& options = {}) : wheel(io, options) {}

    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

using shared_timers = virtual_timers<cogwheel::testing::manual_timer_wheel>;
using local_timers = virtual_timers<manual_local_timer_wheel>;

} // namespace cogwheel_tests

// The types of a TEST_CASE_TEMPLATE.
#ifdef __SANITIZE_THREAD__ // which sees nothing in a wheel for one thread
#define EVERY_WAIT cogwheel_tests::on_wheel, cogwheel_tests::on_timer
#define EVERY_TIMER cogwheel_tests::shared_timers
#else
#define EVERY_WAIT                                                                                                     \
    cogwheel_tests::on_wheel, cogwheel_tests::on_local_wheel, cogwheel_tests::on_timer, cogwheel_tests::on_local_timer
#define EVERY_TIMER cogwheel_tests::shared_timers, cogwheel_tests::local_timers
#endif
