// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// stop() and cancel_all(): each pending wait completes once, from wherever they are called.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("cancel_all_each_wait_aborted_once_wheel_goes_on") {
    virtual_wheel w;
    for (int i = 0; i < 100; ++i) w.wheel.async_wait(i * 1s, must_abort());
    CHECK(w.wheel.cancel_all() == 100);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.cancel_all() == 0);
    bool done = false;
    w.wheel.async_wait(10ms, must_complete({}, &done));
    w.pass(10ms);
    CHECK(done);
    CHECK(w.wheel.stats().cancelled == 100);
}

TEST_CASE("stop_each_wait_aborted_not_inline") {
    virtual_wheel w;
    bool done = false;
    w.wheel.async_wait(10ms, must_abort(&done));
    CHECK(w.wheel.stop() == 1);
    CHECK_FALSE(done);
    w.run();
    CHECK(done);
    CHECK(w.wheel.stop() == 0);
}

TEST_CASE("stop_after_all_ran_returns_none") {
    virtual_wheel w;
    w.wheel.async_wait(10ms, must_complete());
    w.pass(10ms);
    CHECK(w.wheel.stop([](manual_clock::time_point) { FAIL("visited"); }) == 0);
}

TEST_CASE("stop_visitor_sees_each_timer_dropped") {
    virtual_wheel w;
    const auto start = manual_clock::now();
    w.wheel.schedule(30ms, must_not_run());
    w.wheel.async_wait(10ms, must_abort());
    w.wheel.schedule(20ms, must_not_run()).cancel();
    std::vector<std::chrono::nanoseconds> seen;
    const auto n = w.wheel.stop([&](manual_clock::time_point at) {
        seen.push_back(at - start);
        CHECK(w.wheel.pending() == 0); // no lock is held
    });
    CHECK(n == 2);
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<std::chrono::nanoseconds>{10ms, 30ms});
    w.run();
}

TEST_CASE("stop_visitor_may_destroy_the_wheel") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(io);
    wheel->async_wait(10ms, must_abort());
    wheel->stop([&](manual_clock::time_point) { wheel.reset(); });
    run_ready(io);
    CHECK_FALSE(wheel.has_value());
}

TEST_CASE("stop_later_wait_answers_stopped_not_inline") {
    virtual_wheel w;
    w.wheel.stop();
    bool done = false;
    w.wheel.async_wait(10ms, must_complete(errc::stopped, &done));
    w.wheel.async_wait(manual_clock::now(), must_complete(errc::stopped));
    CHECK_FALSE(done);
    CHECK(w.wheel.pending() == 0);
    w.run(); // at once, not after the delay
    CHECK(done);
    CHECK(w.wheel.stats().rejected == 2);
}

TEST_CASE("stop_later_schedule_answers_an_empty_token") {
    virtual_wheel w;
    w.wheel.stop();
    std::error_code ec;
    int destroyed = 0;
    CHECK_FALSE(static_cast<bool>(w.wheel.schedule(10ms, must_not_run(&destroyed), ec)));
    CHECK(ec == errc::stopped);
    CHECK_FALSE(
        static_cast<bool>(w.wheel.schedule(10ms, must_not_run(&destroyed), on_cancel(must_not_run(&destroyed)), ec)));
    CHECK_FALSE(static_cast<bool>(w.wheel.schedule(manual_clock::now(), must_not_run(&destroyed))));
    CHECK(destroyed == 4);
    CHECK(w.wheel.stats().rejected == 3);
    CHECK(w.wheel.stats().scheduled == 0);
    CHECK(w.run() == 0);
}

TEST_CASE("stop_in_a_handler_the_rest_of_the_tick_is_aborted") {
    virtual_wheel w;
    int succeeded = 0, aborted = 0, stopped = 0;
    for (int i = 0; i < 4; ++i)
        w.wheel.async_wait(10ms, [&](std::error_code ec) {
            if (ec == asio::error::operation_aborted) ++aborted;
            if (ec) return;
            ++succeeded;
            CHECK(w.wheel.stop() == 3);
            w.wheel.async_wait(1ms, [&](std::error_code late) { stopped += late == errc::stopped; });
        });
    w.pass(10ms);
    CHECK(succeeded == 1);
    CHECK(aborted == 3);
    CHECK(stopped == 1);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE("stop_more_than_a_turn_of_aborts_all_arrive") {
    virtual_wheel w({.work_per_turn = 2});
    int aborted = 0;
    for (int i = 0; i < 9; ++i)
        w.wheel.async_wait(1h, [&](std::error_code ec) { aborted += ec == asio::error::operation_aborted; });
    w.wheel.stop();
    manual_clock::advance(2h); // not even then does one see success
    w.run();
    CHECK(aborted == 9);
}

TEST_CASE("stop_from_another_thread_each_wait_aborted_once") {
    virtual_wheel w;
    for (int i = 0; i < 50; ++i) w.wheel.async_wait(1h, must_abort());
    std::size_t n = 0;
    std::thread([&] { n = w.wheel.stop(); }).join();
    CHECK(n == 50);
    w.run();
    CHECK(w.wheel.stats().cancelled == 50);
}

TEST_CASE("stop_tokens_are_stale") {
    virtual_wheel w;
    const auto token = w.wheel.schedule(10ms, must_not_run());
    w.wheel.stop();
    CHECK_FALSE(token.pending());
    CHECK_FALSE(token.cancel());
    CHECK_FALSE(token.reschedule(1s));
    w.pass(1s);
}
