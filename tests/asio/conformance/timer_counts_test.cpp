// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the wheel counts of timer objects, and what its limits and its end mean for them. A timer on which several wait
// is one.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("counts_exact_after_every_step", T, EVERY_TIMER) {
    T w;
    const auto check = [&](std::uint64_t scheduled, std::uint64_t fired, std::uint64_t cancelled) {
        const wheel_stats s = w.wheel.stats();
        CHECK(s.scheduled == scheduled);
        CHECK(s.fired == fired);
        CHECK(s.cancelled == cancelled);
        CHECK(s.pending == w.wheel.pending());
        CHECK(counts_agree(s));
    };
    const auto ignore = [](std::error_code) {};
    std::optional<typename T::timer_type> a(std::in_place, w.wheel, 10ms), b(std::in_place, w.wheel, 10ms);
    check(0, 0, 0);
    a->async_wait(ignore);
    a->async_wait(ignore);
    check(1, 0, 0);
    b->async_wait(ignore);
    check(2, 0, 0);
    CHECK(a->cancel_one() == 1);
    check(2, 0, 0); // somebody still waits
    CHECK(a->cancel_one() == 1);
    check(2, 0, 1);
    a->async_wait(ignore);
    check(3, 0, 1);
    CHECK(a->reschedule(20ms));
    typename T::timer_type moved(std::move(*a));
    check(3, 0, 1);
    w.pass(10ms);
    check(3, 1, 1);
    b->async_wait(ignore);
    check(4, 1, 1);
    b.reset();
    check(4, 1, 2);
    CHECK(moved.expires_after(30ms) == 1);
    check(4, 1, 3);
    moved.async_wait(ignore);
    *a = std::move(moved);
    check(5, 1, 3);
    CHECK(w.wheel.cancel_all() == 1);
    check(5, 1, 4);
    w.run();
    check(5, 1, 4);
    CHECK(w.wheel.stats().rejected == 0);
}

TEST_CASE_TEMPLATE("counts_inside_a_handler_its_own_timer_is_not_pending", T, EVERY_TIMER) {
    T w;
    typename T::timer_type a(w.wheel, 10ms), b(w.wheel, 20ms);
    bool ran = false;
    a.async_wait([&](std::error_code) {
        CHECK(w.wheel.pending() == 1);
        a.async_wait(must_complete());
        CHECK(w.wheel.pending() == 2);
        CHECK(counts_agree(w.wheel.stats()));
        ran = true;
    });
    b.async_wait(must_complete());
    w.pass(10ms);
    CHECK(ran);
    w.pass(10ms);
    CHECK(w.wheel.stats().fired == 3);
}

TEST_CASE_TEMPLATE("max_pending_counts_timers_not_their_waits", T, EVERY_TIMER) {
    T w({.max_pending = 2});
    typename T::timer_type a(w.wheel, 1h), b(w.wheel, 1h), c(w.wheel, 10ms);
    for (int i = 0; i < 3; ++i) a.async_wait(must_abort());
    b.async_wait(must_abort());
    b.async_wait(must_abort());
    bool rejected = false, accepted = false;
    c.async_wait(must_complete(errc::too_many_timers, &rejected));
    CHECK_FALSE(rejected); // not inline
    CHECK(w.wheel.pending() == 2);
    w.run();
    CHECK(rejected);
    CHECK(c.cancel() == 0);
    CHECK(w.wheel.stats().rejected == 1);
    b.cancel();
    c.async_wait(must_complete({}, &accepted));
    w.pass(10ms);
    CHECK(accepted);
    a.cancel();
    w.run();
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE_TEMPLATE("max_pending_the_slot_of_a_rejected_wait_cancels_no_other", T, EVERY_TIMER) {
    T w({.max_pending = 1});
    typename T::timer_type a(w.wheel, 1h), b(w.wheel, 10ms);
    asio::cancellation_signal signal, other;
    a.async_wait(must_abort());
    b.async_wait(asio::bind_cancellation_slot(signal.slot(), must_complete(errc::too_many_timers)));
    CHECK(a.cancel() == 1);
    w.run();
    // Of the same size, so that it gets the very block of the rejected one.
    bool done = false;
    b.async_wait(asio::bind_cancellation_slot(other.slot(), must_complete({}, &done)));
    signal.emit(asio::cancellation_type::terminal);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("cancel_all_aborts_every_wait_the_timers_stay_of_use", T, EVERY_TIMER) {
    T w;
    typename T::timer_type a(w.wheel, 1h), b(w.wheel, 10ms);
    int aborted = 0;
    for (int i = 0; i < 4; ++i)
        (i == 0 ? a : b).async_wait([&](std::error_code ec) { aborted += ec == asio::error::operation_aborted; });
    CHECK(w.wheel.cancel_all() == 2); // timers
    CHECK(a.cancel() == 0);
    CHECK_FALSE(b.reschedule(10ms));
    CHECK(aborted == 0);
    w.run();
    CHECK(aborted == 4);
    bool done = false;
    b.async_wait(must_complete({}, &done));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("stop_aborts_every_wait_later_ones_complete_with_stopped", T, EVERY_TIMER) {
    T w;
    typename T::timer_type a(w.wheel, 1h), b(w.wheel, 10ms), c(w.wheel, 10ms);
    asio::cancellation_signal signal;
    bool aborted[3] = {}, stopped[2] = {};
    a.async_wait(must_abort(&aborted[0]));
    b.async_wait(asio::bind_cancellation_slot(signal.slot(), must_abort(&aborted[1])));
    b.async_wait(must_abort(&aborted[2]));
    int visited = 0;
    const auto expiry_of_b = b.expiry();
    bool b_seen = false;
    CHECK(w.wheel.stop([&](manual_clock::time_point expiry) {
        ++visited;
        b_seen |= expiry == expiry_of_b;
    }) == 2);
    CHECK(visited == 2);
    CHECK(b_seen);
    b.async_wait(must_complete(errc::stopped, &stopped[0]));
    c.async_wait(must_complete(errc::stopped, &stopped[1]));
    signal.emit(asio::cancellation_type::terminal); // harmless
    CHECK(w.wheel.pending() == 0);
    CHECK_FALSE(stopped[0]);
    w.run();
    for (const bool x : aborted) CHECK(x);
    for (const bool x : stopped) CHECK(x);
    CHECK(w.wheel.stats().rejected == 2);
    w.pass(2h);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE_TEMPLATE("stop_in_a_handler_with_several_waits_all_of_that_timer_succeed", T, EVERY_TIMER) {
    T w;
    typename T::timer_type a(w.wheel, 10ms), b(w.wheel, 20ms);
    int succeeded = 0;
    bool aborted = false;
    for (int i = 0; i < 3; ++i)
        a.async_wait([&, i](std::error_code ec) {
            succeeded += !ec;
            if (i == 0) CHECK(w.wheel.stop() == 1);
        });
    b.async_wait(must_abort(&aborted));
    w.pass(10ms);
    CHECK(succeeded == 3);
    CHECK(aborted);
}
