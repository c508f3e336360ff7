// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer object's expiry: how it is set, what setting it does to those who wait, and that a past one completes at
// once.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <algorithm>
#include <type_traits>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<wheel_timer> && !std::is_copy_assignable_v<wheel_timer>);
static_assert(std::is_nothrow_move_constructible_v<wheel_timer> && std::is_nothrow_move_assignable_v<wheel_timer>);
static_assert(std::is_same_v<wheel_timer::clock_type, std::chrono::steady_clock>);
static_assert(std::is_same_v<wheel_timer::time_point, std::chrono::steady_clock::time_point>);
static_assert(std::is_same_v<wheel_timer::duration, std::chrono::steady_clock::duration>);
static_assert(std::is_same_v<wheel_timer::executor_type, asio::any_io_executor>);

TEST_CASE_TEMPLATE("timer_constructed_without_expiry_has_expired_long_ago", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel);
    CHECK(timer.expiry() == manual_clock::time_point());
    CHECK(timer.get_executor() == w.wheel.get_executor());
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    CHECK_FALSE(done);
    w.run();
    CHECK(done);
}

TEST_CASE_TEMPLATE("timer_constructed_with_a_delay_expires_then", T, EVERY_TIMER) {
    T w;
    const auto start = manual_clock::now();
    typename T::timer_type timer(w.wheel, 10ms);
    CHECK(timer.expiry() == start + 10ms);
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    w.pass(9ms);
    CHECK_FALSE(done);
    w.pass(1ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("timer_constructed_with_a_time_point_expires_then", T, EVERY_TIMER) {
    T w;
    const auto at = manual_clock::now() + 10ms;
    typename T::timer_type timer(w.wheel, at);
    CHECK(timer.expiry() == at);
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    w.pass(9ms);
    CHECK_FALSE(done);
    w.pass(1ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("timer_type_is_deduced_from_the_wheel", T, EVERY_TIMER) {
    T w;
    basic_wheel_timer bare(w.wheel);
    basic_wheel_timer after(w.wheel, 1s);
    basic_wheel_timer at(w.wheel, manual_clock::now());
    static_assert(std::is_same_v<decltype(bare), typename T::timer_type>);
    static_assert(std::is_same_v<decltype(after), typename T::timer_type>);
    static_assert(std::is_same_v<decltype(at), typename T::timer_type>);
    CHECK(after.expiry() == at.expiry() + 1s);
}

TEST_CASE_TEMPLATE("timer_that_nobody_awaits_is_not_pending", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    CHECK(timer.expires_after(20ms) == 0);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.run() == 0);
    CHECK(w.io.stopped()); // nor does it keep the context running
    w.pass(1s);
    CHECK(w.wheel.stats().scheduled == 0);
}

TEST_CASE_TEMPLATE("timer_expires_after_returns_how_many_waits_it_aborts", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    CHECK(timer.expires_after(20ms) == 0);
    bool aborted[3] = {};
    for (bool& a : aborted) timer.async_wait(must_abort(&a));
    const auto now = manual_clock::now();
    CHECK(timer.expires_after(1h) == 3);
    CHECK(timer.expiry() == now + 1h);
    for (const bool a : aborted) CHECK_FALSE(a); // not inline
    CHECK(w.wheel.pending() == 0);
    w.run();
    for (const bool a : aborted) CHECK(a);
    CHECK(timer.expires_after(1s) == 0);
}

TEST_CASE_TEMPLATE("timer_expires_at_returns_how_many_waits_it_aborts", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    bool aborted = false, done = false;
    timer.async_wait(must_abort(&aborted));
    const auto at = manual_clock::now() + 30ms;
    CHECK(timer.expires_at(at) == 1);
    CHECK(timer.expiry() == at);
    timer.async_wait(must_complete({}, &done));
    w.pass(10ms);
    CHECK(aborted);
    w.pass(19ms);
    CHECK_FALSE(done);
    w.pass(1ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("timer_rearmed_for_every_request_only_the_last_wait_succeeds", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel);
    int aborted = 0;
    bool done = false;
    for (int i = 0; i < 20; ++i) {
        CHECK(timer.expires_after(30ms) == (i == 0 ? 0U : 1U));
        timer.async_wait([&](std::error_code ec) { aborted += ec == asio::error::operation_aborted; });
        w.pass(10ms);
    }
    CHECK(timer.expires_after(30ms) == 1);
    timer.async_wait(must_complete({}, &done));
    w.pass(30ms);
    CHECK(aborted == 20);
    CHECK(done);
    CHECK(w.wheel.stats().fired == 1);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE_TEMPLATE("timer_expired_then_awaited_again_completes_at_once_not_inline", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    for (int i = 0; i < 3; ++i) {
        bool done = false;
        timer.async_wait(must_complete({}, &done));
        CHECK_FALSE(done);
        w.pass(i == 0 ? 10ms : 0ms);
        CHECK(done);
    }
}

TEST_CASE_TEMPLATE("timer_expired_expires_after_does_not_count_the_finished_waits", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    timer.async_wait(must_complete());
    w.pass(10ms);
    CHECK(timer.expires_after(10ms) == 0);
    CHECK(timer.cancel() == 0);
    CHECK(timer.cancel_one() == 0);
}

TEST_CASE_TEMPLATE("timer_rearmed_in_its_own_handler_is_periodic", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    struct ticker {
        typename T::timer_type* timer;
        int* runs;
        void operator()(std::error_code ec) const {
            CHECK_FALSE(ec);
            if (++*runs == 5) return;
            CHECK(timer->expires_at(timer->expiry() + 10ms) == 0);
            timer->async_wait(*this);
        }
    };
    int runs = 0;
    timer.async_wait(ticker{&timer, &runs});
    for (int i = 1; i <= 8; ++i) {
        w.pass(10ms);
        CHECK(runs == std::min(i, 5));
    }
}

TEST_CASE_TEMPLATE("timer_extreme_expiries_saturate", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel);
    int aborted = 0;
    const auto never = [&] {
        timer.async_wait([&](std::error_code ec) { aborted += ec == asio::error::operation_aborted; });
        w.pass(24h * 365);
        CHECK(w.wheel.pending() == 1);
    };
    timer.expires_after(std::chrono::hours::max());
    CHECK(timer.expiry() == manual_clock::time_point::max());
    never();
    CHECK(timer.expires_at(manual_clock::time_point::max()) == 1);
    never();
    CHECK(timer.expires_after(std::chrono::duration<double>::max()) == 1);
    never();
    bool done = false;
    CHECK(timer.expires_after(std::chrono::hours::min()) == 1);
    timer.async_wait(must_complete({}, &done));
    w.run();
    CHECK(done);
    CHECK(timer.expires_at(manual_clock::time_point::min()) == 0);
    timer.async_wait(must_complete());
    w.run();
    CHECK(aborted == 3);
}

TEST_CASE("timer_wait_expired_returns_at_once") {
    asio::io_context io;
    const timer_wheel wheel(io);
    const wheel_timer expired(wheel), past(wheel, -1h);
    expired.wait();
    past.wait();
    CHECK(past.expiry() <= std::chrono::steady_clock::now());
}

TEST_CASE_TEMPLATE("timer_with_a_delay_of_zero_or_less_completes_in_the_next_turn", T, EVERY_TIMER) {
    for (const auto phase : {0ns, 1ns, 3'000'000ns, 9'999'999ns}) {
        for (const auto delay : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
            CAPTURE(phase);
            CAPTURE(delay);
            T w;
            w.pass(phase);
            bool done = false;
            typename T::timer_type timer(w.wheel, 1h);
            SUBCASE("constructed with it") {
                timer = typename T::timer_type(w.wheel, delay);
                timer.async_wait(must_complete({}, &done));
            }
            SUBCASE("expires_after") {
                CHECK(timer.expires_after(delay) == 0);
                timer.async_wait(must_complete({}, &done));
            }
            SUBCASE("expires_after, then moved") {
                timer.expires_after(delay);
                typename T::timer_type other(std::move(timer));
                other.async_wait(must_complete({}, &done));
                CHECK_FALSE(done);
                w.run();
            }
            SUBCASE("reschedule") {
                timer.async_wait(must_complete({}, &done));
                CHECK(timer.reschedule(delay));
            }
            w.run();
            CHECK(done);
            timer.expires_at(manual_clock::now() + 5ms); // and it is a deadline again
            done = false;
            timer.async_wait(must_complete({}, &done));
            w.run();
            CHECK_FALSE(done);
            w.pass(20ms);
            CHECK(done);
        }
    }
}
