// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Never early, at most one tick late, in every phase of the tick; earlier ticks first.
#include "support/asio/virtual_wheel.hpp"
#include "support/random.hpp"

#include <cogwheel/asio/callback_timer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("wait_every_phase_and_delay_never_early_less_than_a_tick_late") {
    constexpr auto tick = 8ns;
    for (auto phase = 0ns; phase < tick; ++phase) {
        for (auto delay = -1ns; delay < 5 * tick; ++delay) {
            CAPTURE(phase.count());
            CAPTURE(delay.count());
            virtual_wheel w({.tick = tick, .slots = 2});
            w.pass(phase);
            bool fired = false;
            auto waited = 0ns;
            w.wheel.async_wait(delay, [&](std::error_code) { fired = true; });
            w.run();
            for (; !fired && waited < 10 * tick; ++waited, w.pass(1ns)) {
            }
            REQUIRE(fired);
            CHECK(waited >= delay);
            CHECK(waited < std::max(delay, 0ns) + tick);
        }
    }
}

TEST_CASE("schedule_at_any_tick_phase_never_early_at_most_one_tick_late") {
    constexpr auto tick = 8ns;
    virtual_wheel w({.tick = tick, .slots = 4});
    for (auto ahead = 1ns; ahead < 9 * tick; ++ahead) {
        const auto at = manual_clock::now() + ahead;
        auto fired = manual_clock::time_point::min();
        const auto token = w.wheel.schedule(at, [&] { fired = manual_clock::now(); });
        const auto expiry = token.expiry();
        CHECK(expiry >= at);
        CHECK(expiry < at + tick);
        while (token.pending()) w.pass(1ns);
        CHECK(fired == expiry);
        w.pass(1ns); // another phase for the next
    }
}

TEST_CASE("point_of_any_size_is_the_same_tick_for_each_kind_of_timer") {
    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;
    asio::io_context io; // runs no turn: no time passes for the wheel
    const time_point present = clock::now();
    timer_wheel wheel{io, {.tick = 1ms}};
    const auto nothing = [] {};
    callback_timer timer(wheel, nothing);
    timer_token token = wheel.schedule(1h, nothing);
    const auto half = clock::duration::max() / 2;
    for (const time_point now : {time_point::min(), time_point::min() + 1ns, time_point(-half), time_point(-1ns),
                                 time_point(), present - 1h, present, present + 1h, time_point(half),
                                 time_point(half) + 1s, present + half, time_point::max() - 1ns, time_point::max()}) {
        for (const auto delay : {1ns, 1ns * 1'000'000, clock::duration(1h), half - 1ns, half, half + 1ns,
                                 clock::duration::max() - 1ns, clock::duration::max()}) {
            CAPTURE(now.time_since_epoch().count());
            CAPTURE(delay.count());
            const auto sum = detail::saturating_add(now.time_since_epoch(), delay);
            const timer_token scheduled = wheel.schedule(time_point(sum), nothing);
            const auto expiry = scheduled.expiry();
            CHECK(token.reschedule(time_point(sum)));
            CHECK(token.expiry() == expiry);
            CHECK(timer.schedule(time_point(sum)));
            CHECK(timer.expiry() == expiry);
            scheduled.cancel();
        }
    }
}

TEST_CASE("wait_random_delays_fire_in_order_of_ticks") {
    virtual_wheel w({.tick = 1ms, .slots = 16});
    random_source random(20'260'701);
    std::vector<std::chrono::milliseconds> fired;
    for (int i = 0; i < 500; ++i) {
        const std::chrono::milliseconds delay(static_cast<std::int64_t>(random.below(300)));
        w.wheel.async_wait(delay, [&fired, delay](std::error_code) { fired.push_back(delay); });
    }
    SUBCASE("in one jump") { w.pass(300ms); }
    SUBCASE("tick by tick") {
        for (int i = 0; i <= 300; ++i) w.pass(1ms);
    }
    SUBCASE("in odd steps") {
        for (int i = 0; i < 120; ++i) w.pass(2700us);
    }
    CHECK(fired.size() == 500);
    CHECK(std::is_sorted(fired.begin(), fired.end()));
}

TEST_CASE("zero_delay_after_earlier_due_timers_does_not_overtake_them") {
    virtual_wheel w;
    std::vector<int> order;
    w.wheel.schedule(10ms, [&] { order.push_back(1); });
    w.wheel.schedule(30ms, [&] { order.push_back(2); });
    manual_clock::advance(50ms); // the loop was busy
    w.wheel.schedule(0ms, [&] { order.push_back(3); });
    w.run();
    CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE("timer_rearming_itself_over_several_revolutions_keeps_its_period") {
    virtual_wheel w({.tick = 1ms, .slots = 4});
    const auto start = manual_clock::now();
    std::vector<std::chrono::nanoseconds> at;
    std::function<void()> rearm = [&] {
        at.push_back(manual_clock::now() - start);
        if (at.size() < 10) w.wheel.schedule(7ms, rearm);
    };
    w.wheel.schedule(7ms, rearm);
    for (int i = 0; i < 200; ++i) w.pass(500us);
    REQUIRE(at.size() == 10);
    for (std::size_t i = 0; i < at.size(); ++i) CHECK(at[i] == (i + 1) * 7ms);
}
