// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a callable may do to the rest of its batch: cancel it, push it back, add to it, throw. For waits see
// conformance/wait_batch_test.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <stdexcept>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("cancel_sibling_of_the_same_tick_it_does_not_run") {
    // Whichever runs first cancels the others: the order within a tick is not promised.
    virtual_wheel w;
    std::vector<manual_timer_wheel::token_type> tokens;
    int runs = 0, cancelled = 0;
    for (int i = 0; i < 5; ++i)
        tokens.push_back(w.wheel.schedule(10ms, [&] {
            ++runs;
            for (auto& t : tokens) cancelled += t.cancel();
        }));
    w.pass(10ms);
    CHECK(runs == 1);
    CHECK(cancelled == 4);
    CHECK(w.wheel.pending() == 0);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE("push_back_of_a_sibling_in_the_same_tick_it_fires_later_only") {
    virtual_wheel w;
    std::vector<manual_timer_wheel::token_type> tokens(2);
    int runs = 0;
    for (auto& t : tokens)
        t = w.wheel.schedule(10ms, [&] {
            if (++runs == 1) CHECK(tokens[0].reschedule(10ms) + tokens[1].reschedule(10ms) == 1);
        });
    w.pass(10ms);
    CHECK(runs == 1);
    w.pass(10ms);
    CHECK(runs == 2);
}

TEST_CASE("schedule_in_a_handler_overdue_waits_for_the_next_turn") {
    virtual_wheel w;
    int runs = 0;
    w.wheel.schedule(10ms, [&] {
        w.wheel.schedule(0ms, [&] { ++runs; });
        CHECK(runs == 0);
    });
    manual_clock::advance(10ms);
    w.io.restart();
    while (w.wheel.stats().fired == 0) w.io.poll_one();
    CHECK(runs == 0);
    w.run();
    CHECK(runs == 1);
}

TEST_CASE("throwing_handler_later_timers_are_still_driven") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] { throw std::runtime_error("from a handler"); });
    bool later = false;
    w.wheel.async_wait(50ms, must_complete({}, &later));
    CHECK_THROWS_AS(w.pass(10ms), std::runtime_error);
    w.pass(0ms);
    CHECK_FALSE(later);
    w.pass(40ms);
    CHECK(later);
}

TEST_CASE("nested_poll_in_a_handler_fires_nothing_twice") {
    virtual_wheel w;
    int runs = 0;
    for (int i = 0; i < 4; ++i)
        w.wheel.async_wait(10ms, [&](std::error_code) {
            ++runs;
            w.wheel.schedule(0ms, [&] { ++runs; });
            w.io.poll();
        });
    w.pass(10ms);
    w.pass(10ms);
    CHECK(runs == 8);
    CHECK(w.wheel.pending() == 0);
}
