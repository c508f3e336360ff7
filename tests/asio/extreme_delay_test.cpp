// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Delays and points in time at the ends of their types saturate: none wraps round and fires.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

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
    w.wheel.async_wait(manual_clock::time_point::max(), must_abort());
    const auto token = w.wheel.schedule(manual_clock::time_point::max(), must_not_run());
    CHECK(token.expiry() == manual_clock::time_point::max());
    bool done = false;
    w.wheel.async_wait(manual_clock::time_point::min(), must_complete({}, &done));
    w.pass(24h * 365);
    CHECK(done);
    CHECK(w.wheel.cancel_all() == 2);
    w.run();
}

TEST_CASE("time_point_of_a_coarser_unit_saturates") {
    using point = std::chrono::time_point<manual_clock, std::chrono::hours>;
    check_never(point::max());
    virtual_wheel w;
    basic_wheel_timer timer(w.wheel, point::max());
    CHECK(timer.expiry() == manual_clock::time_point::max());
    timer.reschedule(point::min());
    CHECK(timer.expiry() == manual_clock::time_point::min());
    CHECK(timeout_scope(w.wheel, point::max()).expiry() == manual_clock::time_point::max());
}

TEST_CASE("clocks_of_odd_units_saturate_and_round_up") {
    const auto check = [](auto unit, bool holds_a_century) {
        using unit_type = decltype(unit);
        using point = std::chrono::time_point<manual_clock, unit_type>;
        const point far = detail::point_after(point(unit_type(7)), std::chrono::hours::max());
        CHECK((far == point::max()) == !holds_a_century);
        CHECK(detail::saturate_to_ns(far.time_since_epoch()) >= 24h * 20);
        CHECK(detail::point_after(point(), std::chrono::hours::min()) < point());
        CHECK(detail::distance(point(), far) == far.time_since_epoch());
        for (const auto ns : {0ns, 1ns, 16'666'666ns, 16'666'667ns, std::chrono::nanoseconds(24h)}) {
            const auto up = detail::point_at<point>(ns).time_since_epoch();
            CHECK(std::chrono::duration<long double>(up) >= std::chrono::duration<long double>(ns));
            CHECK(std::chrono::duration<long double>(up - unit_type(1)) < std::chrono::duration<long double>(ns));
        }
    };
    check(std::chrono::duration<std::int64_t, std::ratio<1, 60>>(1), true);
    check(std::chrono::duration<std::int64_t, std::ratio<1, 3>>(1), true);
    check(std::chrono::duration<std::int64_t, std::ratio<2, 5'000'000'000>>(1), false); // 2.5 GHz
    check(std::chrono::duration<std::int64_t, std::pico>(1), false);
    check(std::chrono::duration<std::int32_t, std::milli>(1), false); // 24 days
    check(std::chrono::microseconds(1), true);
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
    wheel.async_wait(std::chrono::steady_clock::time_point::max(), must_abort());
    bool done = false;
    wheel.async_wait(std::chrono::hours::min(), must_complete({}, &done));
    io.poll();
    CHECK(done);
    CHECK(wheel.pending() == 2);
    wheel.cancel_all();
    io.poll();
}
