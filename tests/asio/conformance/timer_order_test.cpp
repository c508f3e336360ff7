// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Several waits on one timer: they end in the order in which they were started, whichever way they end.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Writes down who completed: its number, with a minus in front if it was aborted.
struct diary {
    std::vector<int> lines;

    auto entry(int who) {
        return [this, who](std::error_code ec) {
            CHECK((!ec || ec == asio::error::operation_aborted));
            lines.push_back(ec ? -who : who);
        };
    }
};

} // namespace

TEST_CASE_TEMPLATE("several_waits_expire_in_the_order_started", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    diary d;
    std::vector<int> expected;
    for (int i = 1; i <= 50; ++i) {
        timer.async_wait(d.entry(i));
        expected.push_back(i);
    }
    CHECK(w.wheel.pending() == 1); // one timer
    w.pass(9ms);
    CHECK(d.lines.empty());
    w.pass(1ms);
    CHECK(d.lines == expected);
}

TEST_CASE_TEMPLATE("several_waits_started_at_different_times_expire_together", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 30ms);
    diary d;
    timer.async_wait(d.entry(1));
    w.pass(10ms);
    timer.async_wait(d.entry(2));
    w.pass(10ms);
    timer.async_wait(d.entry(3));
    w.pass(10ms);
    CHECK(d.lines == std::vector{1, 2, 3});
    timer.async_wait(d.entry(4));
    w.run();
    CHECK(d.lines == std::vector{1, 2, 3, 4});
}

TEST_CASE_TEMPLATE("cancel_aborts_all_in_the_order_started", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 1h);
    diary d;
    for (int i = 1; i <= 5; ++i) timer.async_wait(d.entry(i));
    const auto expiry = timer.expiry();
    CHECK(timer.cancel() == 5);
    CHECK(timer.expiry() == expiry);
    CHECK(timer.cancel() == 0);
    CHECK(d.lines.empty());
    w.run();
    CHECK(d.lines == std::vector{-1, -2, -3, -4, -5});
}

TEST_CASE_TEMPLATE("cancel_one_aborts_the_oldest_the_others_wait_on", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    diary d;
    for (int i = 1; i <= 4; ++i) timer.async_wait(d.entry(i));
    CHECK(timer.cancel_one() == 1);
    CHECK(timer.cancel_one() == 1);
    CHECK(w.wheel.pending() == 1);
    w.run();
    CHECK(d.lines == std::vector{-1, -2});
    w.pass(10ms);
    CHECK(d.lines == std::vector{-1, -2, 3, 4});
}

TEST_CASE_TEMPLATE("cancel_one_of_the_last_leaves_nothing_pending", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    CHECK(timer.cancel_one() == 0);
    diary d;
    timer.async_wait(d.entry(1));
    CHECK(timer.cancel_one() == 1);
    CHECK(timer.cancel_one() == 0);
    CHECK(w.wheel.pending() == 0);
    w.pass(1h);
    CHECK(d.lines == std::vector{-1});
    timer.async_wait(d.entry(2));
    w.run();
    CHECK(d.lines == std::vector{-1, 2});
}

TEST_CASE_TEMPLATE("slots_cancel_their_own_wait_wherever_it_stands", T, EVERY_TIMER) {
    for (int victim = 1; victim <= 3; ++victim) {
        CAPTURE(victim);
        T w;
        typename T::timer_type timer(w.wheel, 10ms);
        asio::cancellation_signal signals[4];
        diary d;
        for (int i = 1; i <= 3; ++i) timer.async_wait(asio::bind_cancellation_slot(signals[i].slot(), d.entry(i)));
        signals[victim].emit(asio::cancellation_type::partial);
        CHECK(w.wheel.pending() == 1);
        w.run();
        w.pass(10ms);
        std::vector<int> expected{-victim};
        for (int i = 1; i <= 3; ++i)
            if (i != victim) expected.push_back(i);
        CHECK(d.lines == expected);
        for (auto& s : signals) s.emit(asio::cancellation_type::terminal); // too late
        w.run();
        CHECK(d.lines == expected);
    }
}

TEST_CASE_TEMPLATE("slots_cancel_every_wait_the_timer_leaves_the_wheel", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    asio::cancellation_signal signals[3];
    diary d;
    for (int i = 0; i < 3; ++i) timer.async_wait(asio::bind_cancellation_slot(signals[i].slot(), d.entry(i + 1)));
    for (const int i : {1, 2, 0}) signals[i].emit(asio::cancellation_type::total);
    CHECK(w.wheel.pending() == 0);
    CHECK(timer.cancel() == 0);
    w.pass(10ms);
    CHECK(d.lines == std::vector{-2, -3, -1});
    CHECK(w.wheel.stats().cancelled == 1); // timers, not waits
    timer.async_wait(d.entry(4));          // of use as before
    w.run();
    CHECK(d.lines.back() == 4);
}

TEST_CASE_TEMPLATE("two_waits_share_a_slot_only_the_second_is_cancelled", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    asio::cancellation_signal signal;
    diary d;
    timer.async_wait(asio::bind_cancellation_slot(signal.slot(), d.entry(1)));
    timer.async_wait(asio::bind_cancellation_slot(signal.slot(), d.entry(2)));
    signal.emit(asio::cancellation_type::terminal);
    w.run();
    CHECK(d.lines == std::vector{-2});
    w.pass(10ms);
    CHECK(d.lines == std::vector{-2, 1});
}

TEST_CASE_TEMPLATE("waits_added_after_all_were_cancelled_wait_for_the_same_expiry", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    diary d;
    timer.async_wait(d.entry(1));
    timer.cancel();
    timer.async_wait(d.entry(2));
    w.pass(9ms);
    CHECK(d.lines == std::vector{-1});
    w.pass(1ms);
    CHECK(d.lines == std::vector{-1, 2});
}
