// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer is moved or destroyed while somebody waits: nobody is lost, and a signal finds its wait or nothing.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <memory>
#include <optional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::bind_cancellation_slot;
using asio::cancellation_type;

TEST_CASE_TEMPLATE("move_constructed_with_waits_pending_they_expire_from_the_new_one", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    const auto expiry = timer.expiry();
    bool done[2] = {};
    for (bool& d : done) timer.async_wait(must_complete({}, &d));
    typename T::timer_type moved(std::move(timer));
    CHECK(moved.expiry() == expiry);
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(done[0]);
    CHECK(done[1]);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE_TEMPLATE("move_constructed_without_waits_or_never_used", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    typename T::timer_type moved(std::move(timer));
    moved.async_wait(must_complete());
    w.pass(10ms);
    typename T::timer_type again(std::move(moved)); // known to the wheel, nobody waits
    CHECK(again.cancel() == 0);
    again.expires_after(10ms);
    bool done = false;
    again.async_wait(must_complete({}, &done));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("moved_from_timer_is_as_one_made_anew", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 20ms);
    bool first = false, second = false;
    timer.async_wait(must_complete({}, &first));
    typename T::timer_type moved(std::move(timer));
    CHECK(timer.cancel() == 0);
    CHECK(timer.expiry() == manual_clock::time_point());
    CHECK(timer.expires_after(10ms) == 0);
    timer.async_wait(must_complete({}, &second));
    CHECK(w.wheel.pending() == 2);
    w.pass(10ms);
    CHECK(second);
    CHECK_FALSE(first);
    w.pass(10ms);
    CHECK(first);
}

TEST_CASE_TEMPLATE("move_assigned_its_own_waits_are_aborted_the_others_go_on", T, EVERY_TIMER) {
    T w;
    typename T::timer_type a(w.wheel, 1h), b(w.wheel, 10ms);
    bool aborted = false, done = false, again = false;
    a.async_wait(must_abort(&aborted));
    b.async_wait(must_complete({}, &done));
    a = std::move(b);
    CHECK(w.wheel.pending() == 1);
    auto& same = a;
    a = std::move(same);
    w.pass(10ms);
    CHECK(aborted);
    CHECK(done);
    b = typename T::timer_type(w.wheel, 10ms);
    b.async_wait(must_complete({}, &again));
    w.pass(10ms);
    CHECK(again);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE_TEMPLATE("move_assigned_from_a_timer_of_another_wheel", T, EVERY_TIMER) {
    T w;
    typename T::wheel_type other(w.io, {.tick = 1ms});
    typename T::timer_type a(w.wheel, 10ms), b(other, 5ms);
    bool aborted = false, done = false, next = false;
    a.async_wait(must_abort(&aborted));
    b.async_wait(must_complete({}, &done));
    a = std::move(b);
    CHECK(w.wheel.pending() == 0);
    CHECK(other.pending() == 1);
    w.pass(5ms);
    CHECK(aborted);
    CHECK(done);
    a.expires_after(1ms);
    a.async_wait(must_complete({}, &next));
    CHECK(other.pending() == 1);
    w.pass(1ms);
    CHECK(next);
}

TEST_CASE_TEMPLATE("emit_after_the_move_still_cancels_that_wait_alone", T, EVERY_TIMER) {
    T w;
    asio::cancellation_signal signal;
    bool aborted = false, done = false;
    std::optional<typename T::timer_type> timer(std::in_place, w.wheel, 10ms);
    timer->async_wait(must_complete({}, &done));
    timer->async_wait(bind_cancellation_slot(signal.slot(), must_abort(&aborted)));
    typename T::timer_type moved(std::move(*timer));
    timer.reset();
    signal.emit(cancellation_type::terminal);
    w.run();
    CHECK(aborted);
    CHECK_FALSE(done);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("emit_after_the_move_of_the_only_wait_disarms_the_new_timer", T, EVERY_TIMER) {
    T w;
    asio::cancellation_signal signal;
    bool aborted = false, again = false;
    std::optional<typename T::timer_type> timer(std::in_place, w.wheel, 10ms);
    timer->async_wait(bind_cancellation_slot(signal.slot(), must_abort(&aborted)));
    typename T::timer_type moved(std::move(*timer)), assigned(w.wheel);
    assigned = std::move(moved);
    timer.reset();
    signal.emit(cancellation_type::total);
    CHECK(w.wheel.pending() == 0);
    CHECK(assigned.cancel() == 0);
    assigned.async_wait(must_complete({}, &again));
    w.pass(10ms);
    CHECK(aborted);
    CHECK(again);
}

TEST_CASE_TEMPLATE("emit_after_the_cancellation_of_the_only_wait_is_harmless", T, EVERY_TIMER) {
    for (const bool move : {false, true}) {
        CAPTURE(move);
        T w;
        asio::cancellation_signal signal;
        bool aborted = false, other = false;
        typename T::timer_type timer(w.wheel, 10ms);
        timer.async_wait(bind_cancellation_slot(signal.slot(), must_abort(&aborted)));
        std::optional<typename T::timer_type> moved;
        if (move) moved.emplace(std::move(timer));
        CHECK((move ? *moved : timer).cancel() == 1);
        timer.async_wait(must_complete({}, &other));
        signal.emit(cancellation_type::terminal); // not delivered yet, so the slot is still set
        CHECK_FALSE(aborted);
        w.pass(10ms);
        CHECK(aborted);
        CHECK(other);
    }
}

TEST_CASE_TEMPLATE("emit_after_the_timer_is_destroyed_is_harmless", T, EVERY_TIMER) {
    T w;
    asio::cancellation_signal signal;
    bool aborted = false, next = false;
    auto timer = std::make_unique<typename T::timer_type>(w.wheel, 1h);
    timer->async_wait(bind_cancellation_slot(signal.slot(), must_abort(&aborted)));
    timer.reset();
    signal.emit(cancellation_type::terminal); // ended, not delivered yet
    CHECK_FALSE(aborted);
    w.run();
    CHECK(aborted);
    signal.emit(cancellation_type::terminal);
    // The next wait has the memory of the first one, its timer the place of the first.
    typename T::timer_type successor(w.wheel, 10ms);
    successor.async_wait(bind_cancellation_slot(asio::cancellation_slot(), must_complete({}, &next)));
    signal.emit(cancellation_type::terminal);
    w.pass(10ms);
    CHECK(next);
}

TEST_CASE_TEMPLATE("destroyed_with_waits_pending_each_is_aborted_in_order", T, EVERY_TIMER) {
    T w;
    std::vector<int> order;
    {
        typename T::timer_type timer(w.wheel, 1h);
        for (int i = 0; i < 5; ++i)
            timer.async_wait([&order, i](std::error_code ec) {
                CHECK(ec == asio::error::operation_aborted);
                order.push_back(i);
            });
    }
    CHECK(order.empty());
    CHECK(w.wheel.pending() == 0);
    w.run();
    CHECK(order == std::vector{0, 1, 2, 3, 4});
    CHECK(w.wheel.stats().cancelled == 1);
}

TEST_CASE_TEMPLATE("timers_in_a_growing_vector_all_expire", T, EVERY_TIMER) {
    T w;
    std::vector<typename T::timer_type> timers;
    int fired = 0;
    for (int i = 0; i < 100; ++i) {
        timers.emplace_back(w.wheel, i % 10 * 10ms).async_wait([&](std::error_code ec) { fired += !ec; });
        if (i % 7 == 0) w.run(); // some have expired when they are moved
    }
    for (int i = 0; i < 10; ++i) w.pass(10ms);
    CHECK(fired == 100);
    CHECK(counts_agree(w.wheel.stats()));
}
