// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// reschedule() moves those who wait; nobody is aborted.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("reschedule_later_all_waits_move_in_order", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    std::vector<int> order;
    for (int i = 0; i < 3; ++i)
        timer.async_wait([&order, i](std::error_code ec) {
            CHECK_FALSE(ec);
            order.push_back(i);
        });
    const auto now = manual_clock::now();
    CHECK(timer.reschedule(50ms));
    CHECK(timer.expiry() == now + 50ms);
    w.pass(49ms);
    CHECK(order.empty());
    w.pass(1ms);
    CHECK(order == std::vector{0, 1, 2});
    CHECK(w.wheel.stats().cancelled == 0);
    CHECK(w.wheel.stats().scheduled == 1);
}

TEST_CASE_TEMPLATE("reschedule_earlier_all_waits_move", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 1h);
    bool done[2] = {};
    for (bool& d : done) timer.async_wait(must_complete({}, &d));
    CHECK(timer.reschedule(manual_clock::now() + 10ms));
    w.pass(9ms);
    CHECK_FALSE(done[0]);
    w.pass(1ms);
    CHECK(done[0]);
    CHECK(done[1]);
    w.pass(2h);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE_TEMPLATE("reschedule_nobody_waits_sets_the_expiry_alone", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 1h);
    const auto now = manual_clock::now();
    CHECK_FALSE(timer.reschedule(20ms));
    CHECK(timer.expiry() == now + 20ms);
    CHECK_FALSE(timer.reschedule(now + 10ms));
    CHECK(timer.expiry() == now + 10ms);
    CHECK(w.wheel.pending() == 0);
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    w.pass(10ms);
    CHECK(done);
    CHECK_FALSE(timer.reschedule(10ms)); // expired: nobody waits any more
}

TEST_CASE_TEMPLATE("reschedule_to_the_past_completes_at_once_not_inline", T, EVERY_TIMER) {
    for (const std::chrono::nanoseconds delay : {0ns, -1ns, -10'000ns, std::chrono::nanoseconds::min()}) {
        CAPTURE(delay.count());
        T w;
        w.pass(1s);
        typename T::timer_type timer(w.wheel, 1h);
        bool done = false;
        timer.async_wait(must_complete({}, &done));
        CHECK(timer.reschedule(delay));
        CHECK_FALSE(done);
        w.run();
        CHECK(done);
    }
}

TEST_CASE_TEMPLATE("reschedule_to_never_and_back", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    CHECK(timer.reschedule(std::chrono::hours::max()));
    w.pass(24h);
    CHECK(timer.reschedule(manual_clock::time_point::max()));
    w.pass(24h);
    CHECK_FALSE(done);
    CHECK(timer.reschedule(10ms));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("reschedule_idle_timeout_pushed_back_by_every_byte", T, EVERY_TIMER) {
    T w({.tick = 10ms, .slots = 8});
    typename T::timer_type timer(w.wheel, 50ms);
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    for (int i = 0; i < 100; ++i) {
        w.pass(7ms);
        CHECK(timer.reschedule(50ms));
    }
    w.pass(49ms);
    CHECK_FALSE(done);
    w.pass(11ms);
    CHECK(done);
    CHECK(w.wheel.stats().scheduled == 1);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE_TEMPLATE("reschedule_in_a_handler_of_the_same_tick_the_other_timer_waits_on", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timers[2] = {{w.wheel, 10ms}, {w.wheel, 10ms}};
    int runs = 0;
    for (int i = 0; i < 2; ++i)
        timers[i].async_wait([&, i](std::error_code ec) {
            CHECK_FALSE(ec);
            if (++runs == 1) {
                CHECK(timers[1 - i].reschedule(20ms));
                CHECK_FALSE(timers[i].reschedule(20ms)); // its own wait is over
            }
        });
    w.pass(10ms);
    CHECK(runs == 1);
    w.pass(19ms);
    CHECK(runs == 1);
    w.pass(1ms);
    CHECK(runs == 2);
}

TEST_CASE_TEMPLATE("reschedule_slots_and_cancel_still_find_their_waits", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    asio::cancellation_signal signal;
    bool first = false, second = false;
    timer.async_wait(asio::bind_cancellation_slot(signal.slot(), must_abort(&first)));
    timer.async_wait(must_abort(&second));
    CHECK(timer.reschedule(1h));
    signal.emit(asio::cancellation_type::terminal);
    w.run();
    CHECK(first);
    CHECK(timer.reschedule(2h));
    CHECK(timer.cancel() == 1);
    CHECK_FALSE(timer.reschedule(3h));
    w.run();
    CHECK(second);
}

TEST_CASE_TEMPLATE("reschedule_after_a_move_moves_the_waits_taken_over", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    typename T::timer_type moved(std::move(timer));
    CHECK_FALSE(timer.reschedule(1h));
    CHECK(moved.reschedule(30ms));
    w.pass(29ms);
    CHECK_FALSE(done);
    w.pass(1ms);
    CHECK(done);
}
