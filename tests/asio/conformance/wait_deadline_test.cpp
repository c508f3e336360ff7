// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Deadlines anywhere on the wheel: at the edges of a slot, after many revolutions, across a long jump, at the end of
// time.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <algorithm>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("slot_boundaries_and_wrap_each_fires_at_its_own_tick", W, EVERY_WAIT) {
    W w({.tick = 1ms, .slots = 8});
    w.pass(3ms); // so that slot and tick are not the same
    const auto start = manual_clock::now();
    std::vector<std::chrono::nanoseconds> fired, expected;
    for (const auto delay : {0ms, 1ms, 6ms, 7ms, 8ms, 9ms, 15ms, 16ms, 17ms, 64ms, 65ms, 800ms}) {
        w.wait(delay, [&](std::error_code ec) {
            CHECK_FALSE(ec);
            fired.push_back(manual_clock::now() - start);
        });
        expected.emplace_back(delay);
    }
    w.run();
    for (int i = 0; i < 800; ++i) w.pass(1ms);
    CHECK(fired == expected);
}

TEST_CASE_TEMPLATE("long_jump_earlier_ticks_before_later_ones", W, EVERY_WAIT) {
    W w({.tick = 1ms, .slots = 8});
    std::vector<int> order;
    for (const int ms : {50, 3, 1000, 8, 16, 7, 9, 100'000, 999, 24})
        w.wait(std::chrono::milliseconds(ms), [&order, ms](std::error_code) { order.push_back(ms); });
    w.pass(1h);
    CHECK(order.size() == 10);
    CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE_TEMPLATE("one_tick_in_small_turns_all_fire_before_the_next_tick", W, EVERY_WAIT) {
    W w({.tick = 1ms, .slots = 8, .work_per_turn = 3});
    std::vector<int> order;
    for (int i = 0; i < 40; ++i)
        w.wait(std::chrono::milliseconds(1 + i % 4), [&order, i](std::error_code) { order.push_back(i % 4); });
    w.pass(1s);
    CHECK(order.size() == 40);
    CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE_TEMPLATE("delay_maximal_never_fires_and_can_be_cancelled", W, EVERY_WAIT) {
    W w;
    w.wait(std::chrono::nanoseconds::max(), must_abort());
    w.wait_until(manual_clock::time_point::max(), must_abort());
    w.wait_until(manual_clock::time_point::max() - 1ns, must_abort());
    w.run();
    w.pass(24h * 365);
    CHECK(w.wheel.pending() == 3);
    CHECK(w.wheel.cancel_all() == 3);
    w.run();
}

TEST_CASE_TEMPLATE("delay_overflowing_the_clock_never_fires", W, EVERY_WAIT) {
    W w;
    manual_clock::advance(24h * 365 * 100);
    w.wait(24h * 365 * 250, must_abort()); // past the end of the clock
    w.run();
    w.pass(24h * 365 * 50);
    CHECK(w.wheel.pending() == 1);
    w.wheel.cancel_all();
    w.run();
    manual_clock::advance(-24h * 365 * 150);
}

TEST_CASE_TEMPLATE("time_point_minimal_is_overdue_not_inline", W, EVERY_WAIT) {
    W w;
    bool done = false;
    w.wait_until(manual_clock::time_point::min(), must_complete({}, &done));
    CHECK_FALSE(done);
    w.run();
    CHECK(done);
}
