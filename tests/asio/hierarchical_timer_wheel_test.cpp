// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer_wheel of levels: the options it takes, and that nothing but a due timer wakes it.
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using levelled = basic_timer_wheel<manual_clock, multi_threaded, hierarchical_wheel>;

template <class Wheel>
std::string refusal_of_levels(const wheel_options& options) {
    asio::io_context io;
    try {
        const Wheel wheel(io, options);
        return {};
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

} // namespace

TEST_CASE("levelled_wheel_fires_days_ahead_and_is_woken_for_that_alone") {
    asio::io_context io;
    levelled wheel(io, {.tick = 10ms, .levels = clock_hands});
    int fired = 0;
    for (const auto at : std::initializer_list<std::chrono::nanoseconds>{5ms, 59s, 61min, 25h, 24h * 29, 24h * 45})
        wheel.schedule(at, [&] { ++fired; });
    std::chrono::nanoseconds now{};
    for (const auto at : std::initializer_list<std::chrono::nanoseconds>{10ms, 59s, 61min, 25h, 24h * 29, 24h * 45}) {
        const int before = fired;
        pass(io, at - now - 10ms);
        CHECK(fired == before);
        pass(io, 10ms);
        CHECK(fired == before + 1);
        now = at;
    }
    CHECK(wheel.stats().wakeups == 6);
    CHECK(wheel.pending() == 0);
}

TEST_CASE("levelled_wheel_tokens_and_waits_work_as_ever") {
    asio::io_context io;
    levelled wheel(io, {.tick = 1ms, .slots = 64});
    int fired = 0;
    auto far = wheel.schedule(24h, [&] { ++fired; });
    auto near = wheel.schedule(48h, [&] { ++fired; });
    std::error_code ended;
    wheel.async_wait(24h, [&](std::error_code ec) { ended = ec; });
    CHECK(far.cancel());
    CHECK(near.reschedule(1s));
    pass(io, 1s);
    CHECK(fired == 1);
    CHECK(wheel.pending() == 1);
    wheel.stop();
    run_ready(io);
    CHECK(ended == asio::error::operation_aborted);
}

TEST_CASE("levels_in_options_are_checked") {
    CHECK(refusal_of_levels<levelled>({.levels = clock_hands}).empty());
    CHECK(refusal_of_levels<levelled>({.tick = 24h * 365, .levels = {{24h * 365, 4}}}).empty()); // `slots` is not used
    CHECK(refusal_of_levels<levelled>({.tick = 24h * 365, .levels = {{24h * 365, 400}}}).find("x 512") !=
          std::string::npos);
    const std::string of_one = refusal_of_levels<testing::manual_timer_wheel>({.levels = clock_hands});
    CHECK(of_one.find("hierarchical_timer_wheel") != std::string::npos);
    const std::string bad = refusal_of_levels<levelled>({.levels = {{10ms, 1}}});
    CHECK(bad.find("1 slots") != std::string::npos);
    const std::string unequal = refusal_of_levels<levelled>({.tick = 1ms, .levels = clock_hands});
    CHECK(unequal.find("10000000 ns") != std::string::npos);
    CHECK(unequal.find("1000000 ns") != std::string::npos);
}
