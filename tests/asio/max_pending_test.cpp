// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// max_pending: what is over the limit is told so, counts as rejected, and leaks no count.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("limit_two_third_wait_is_rejected_not_inline") {
    virtual_wheel w({.max_pending = 2});
    bool rejected = false;
    w.wheel.async_wait(10ms, must_complete());
    w.wheel.async_wait(10ms, must_complete());
    w.wheel.async_wait(10ms, must_complete(errc::too_many_timers, &rejected));
    CHECK_FALSE(rejected);
    CHECK(w.wheel.pending() == 2);
    w.run(); // at once, not after the delay
    CHECK(rejected);
    w.pass(10ms);
    const wheel_stats s = w.wheel.stats();
    CHECK(s.rejected == 1);
    CHECK(s.scheduled == 2);
    CHECK(s.fired == 2);
    CHECK(s.cancelled == 0);
    CHECK(s.pending == 0);
}

TEST_CASE("limit_two_third_schedule_gives_an_empty_token_and_the_reason") {
    virtual_wheel w({.max_pending = 2});
    std::error_code ec = errc::stopped;
    CHECK(static_cast<bool>(w.wheel.schedule(10ms, [] {}, ec)));
    CHECK_FALSE(ec);
    w.wheel.schedule(10ms, [] {});
    int destroyed = 0;
    CHECK_FALSE(
        static_cast<bool>(w.wheel.schedule(10ms, must_not_run(&destroyed), on_cancel(must_not_run(&destroyed)), ec)));
    CHECK(ec == errc::too_many_timers);
    CHECK(destroyed == 2);
    CHECK_FALSE(static_cast<bool>(w.wheel.schedule(10ms, must_not_run())));
    CHECK(w.wheel.stats().rejected == 2);
    CHECK(w.wheel.pending() == 2);
    w.pass(10ms);
    CHECK(w.wheel.stats().fired == 2);
}

TEST_CASE("limit_reached_cancelling_one_makes_room_at_once") {
    virtual_wheel w({.max_pending = 2});
    const auto silent = w.wheel.schedule(1h, must_not_run());
    bool told = false;
    const auto loud = w.wheel.schedule(1h, must_not_run(), on_cancel([&] { told = true; }));
    CHECK(silent.cancel());
    CHECK(static_cast<bool>(w.wheel.schedule(1h, must_not_run())));
    CHECK(loud.cancel());
    CHECK(static_cast<bool>(w.wheel.schedule(1h, must_not_run()))); // its on_cancel has not even run
    CHECK_FALSE(static_cast<bool>(w.wheel.schedule(1h, must_not_run())));
    w.run();
    CHECK(told);
}

TEST_CASE("limit_reached_a_block_whose_entry_would_serve_is_not_taken") {
    virtual_wheel w({.max_pending = 2});
    const auto callable = [] {}; // its blocks are not those of a wait
    const auto a = w.wheel.schedule(1h, callable), b = w.wheel.schedule(1h, callable);
    CHECK(a.cancel());
    CHECK(b.cancel());
    w.wheel.async_wait(1h, must_complete());
    w.wheel.async_wait(1h, must_complete());
    CHECK_FALSE(static_cast<bool>(w.wheel.schedule(1h, callable)));
    CHECK(w.wheel.stats().rejected == 1);
    w.pass(1h);
}

TEST_CASE("limit_reached_running_one_makes_room_in_its_handler") {
    virtual_wheel w({.max_pending = 1});
    bool second = false;
    w.wheel.async_wait(10ms, [&](std::error_code) { w.wheel.async_wait(10ms, must_complete({}, &second)); });
    w.pass(10ms);
    w.pass(10ms);
    CHECK(second);
    CHECK(w.wheel.stats().rejected == 0);
}

TEST_CASE("limit_rejected_thousands_of_times_counts_stay_exact") {
    virtual_wheel w({.max_pending = 3});
    std::size_t rejected = 0;
    for (int i = 0; i < 1000; ++i) {
        for (int k = 0; k < 5; ++k)
            w.wheel.async_wait(10ms, [&](std::error_code ec) { rejected += ec == errc::too_many_timers; });
        CHECK(w.wheel.pending() == 3);
        i % 2 == 0 ? w.pass(10ms) : w.wheel.cancel_all();
        CHECK(w.wheel.pending() == 0);
    }
    w.run();
    const wheel_stats s = w.wheel.stats();
    CHECK(s.rejected == 2000);
    CHECK(rejected == 2000);
    CHECK(s.scheduled == 3000);
    CHECK(s.fired == 1500);
    CHECK(s.cancelled == 1500);
}

TEST_CASE("rejected_wait_context_destroyed_handler_destroyed") {
    int destroyed = 0;
    {
        virtual_wheel w({.max_pending = 1});
        w.wheel.async_wait(1h, must_not_run(&destroyed));
        w.wheel.async_wait(1h, must_not_run(&destroyed));
    }
    CHECK(destroyed == 2);
}
