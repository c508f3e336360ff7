// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Delays and points in time at the ends of their types saturate: none wraps round and fires.
#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

template <class Duration>
void check_never(Duration delay) {
    virtual_wheel w;
    w.wheel.async_wait(delay, must_abort());
    const auto token = w.wheel.schedule(delay, must_not_run());
    CHECK(token.pending());
    w.run();
    w.pass(24h * 365);
    CHECK(w.wheel.pending() == 2);
    CHECK(token.remaining() > 24h * 365 * 100);
    CHECK(token.cancel());
    w.wheel.cancel_all();
    w.run();
}

} // namespace

TEST_CASE("delay_maximal_of_any_duration_type_does_not_fire") {
    check_never(std::chrono::hours::max());
    check_never(std::chrono::seconds::max());
    check_never(std::chrono::nanoseconds::max());
    check_never(std::chrono::duration<double>::max());
    check_never(std::chrono::duration<std::int64_t, std::ratio<86400 * 365>>::max());
}

TEST_CASE("delay_minimal_of_any_duration_type_is_overdue") {
    const auto check = [](auto delay) {
        virtual_wheel w;
        bool done = false;
        w.wheel.async_wait(delay, must_complete({}, &done));
        CHECK_FALSE(done);
        w.run();
        CHECK(done);
    };
    check(std::chrono::hours::min());
    check(std::chrono::nanoseconds::min());
    check(std::chrono::duration<double>::min());
}

TEST_CASE("delay_fractional_is_rounded_up") {
    virtual_wheel w({.tick = 1ns});
    const auto start = manual_clock::now();
    const auto token = w.wheel.schedule(std::chrono::duration<double, std::nano>(1.5), [] {});
    CHECK(token.expiry() == start + 2ns);
}

TEST_CASE("time_point_extremes_saturate") {
    virtual_wheel w;
    w.wheel.async_wait_until(manual_clock::time_point::max(), must_abort());
    const auto token = w.wheel.schedule_at(manual_clock::time_point::max(), must_not_run());
    CHECK(token.expiry() == manual_clock::time_point::max());
    bool done = false;
    w.wheel.async_wait_until(manual_clock::time_point::min(), must_complete({}, &done));
    w.pass(24h * 365);
    CHECK(done);
    CHECK(w.wheel.cancel_all() == 2);
    w.run();
}

TEST_CASE("reschedule_to_an_extreme_and_back") {
    virtual_wheel w;
    int runs = 0;
    const auto token = w.wheel.schedule(10ms, [&] { ++runs; });
    CHECK(token.reschedule(std::chrono::hours::max()));
    w.pass(24h);
    CHECK(runs == 0);
    CHECK(token.reschedule(10ms));
    w.pass(10ms);
    CHECK(runs == 1);
}

TEST_CASE("real_clock_maximal_delay_stays_pending") {
    asio::io_context io;
    timer_wheel wheel(io);
    wheel.async_wait(std::chrono::hours::max(), must_abort());
    wheel.async_wait_until(std::chrono::steady_clock::time_point::max(), must_abort());
    bool done = false;
    wheel.async_wait(std::chrono::hours::min(), must_complete({}, &done));
    io.poll();
    CHECK(done);
    CHECK(wheel.pending() == 2);
    wheel.cancel_all();
    io.poll();
}
