// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often timer objects trouble the driver, which costs a system call each time, and what happens when that fails.
#include "support/asio/every_wait.hpp"
#include "support/asio/failing_executor.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/scripted_driver.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct scripted_timers {
    asio::io_context io;
    scripted_wheel wheel{io};
    basic_wheel_timer<basic_timer_wheel<scripted_clock, single_threaded>> timer{wheel}, other{wheel};

    int arms() const { return script::the().arms; }
};

} // namespace

TEST_CASE("driver_rearmed_timer_request_pattern_does_not_arm_per_request") {
    scripted_timers s;
    int aborted = 0;
    for (int i = 0; i < 1000; ++i) { // the next request comes before the loop turns
        s.timer.expires_after(30s);
        s.timer.async_wait([&](std::error_code ec) { aborted += ec == asio::error::operation_aborted; });
        pass_scripted(s.io, 1us);
    }
    CHECK(aborted == 999);
    CHECK(s.arms() <= 3);
}

TEST_CASE("driver_timer_cancelled_before_the_loop_turns_arms_as_often_as_steady_timer") {
    scripted_timers s;
    int aborted = 0;
    for (int i = 0; i < 1000; ++i) {
        s.timer.expires_after(30s);
        s.timer.async_wait([&](std::error_code ec) { aborted += ec == asio::error::operation_aborted; });
        s.io.restart();
        s.io.poll();
        s.timer.cancel();
        pass_scripted(s.io, 1us);
    }
    CHECK(aborted == 1000);
    CHECK(s.arms() == 1000);
}

TEST_CASE("driver_further_waits_and_push_backs_cost_nothing") {
    scripted_timers s;
    s.timer.expires_after(1s);
    for (int i = 0; i < 10; ++i) s.timer.async_wait([](std::error_code) {});
    CHECK(s.arms() == 1);
    for (int i = 1; i <= 100; ++i) CHECK(s.timer.reschedule(1s + i * 10ms));
    s.other.expires_after(2s);
    s.other.async_wait([](std::error_code) {});
    CHECK(s.arms() == 1);
    CHECK(s.timer.reschedule(500ms)); // earlier: once
    CHECK(s.arms() == 2);
}

TEST_CASE("driver_cancel_of_the_last_wait_calls_it_off") {
    scripted_timers s;
    s.timer.expires_after(1h);
    s.timer.async_wait([](std::error_code) {});
    s.timer.async_wait([](std::error_code) {});
    CHECK(s.timer.cancel_one() == 1);
    CHECK(script::the().calls_off == 0);
    CHECK(s.timer.cancel_one() == 1);
    pass_scripted(s.io, 0ns);
    CHECK(s.arms() == 1);
    CHECK(script::the().calls_off == 1);
    CHECK_FALSE(script::the().armed_for.has_value()); // nothing left to wake for
}

TEST_CASE("driver_arming_fails_the_wait_throws_the_others_are_not_forgotten") {
    scripted_timers s;
    bool done = false, again = false;
    s.timer.expires_after(20ms);
    s.timer.async_wait(must_complete({}, &done));
    s.other.expires_after(10ms);
    asio::cancellation_signal signal;
    int destroyed = 0;
    script::the().fail = true;
    CHECK_THROWS_AS(s.other.async_wait(asio::bind_cancellation_slot(signal.slot(), must_not_run(&destroyed))),
                    std::bad_alloc);
    script::the().fail = false;
    CHECK(destroyed == 1);
    CHECK_FALSE(signal.slot().has_handler());
    CHECK(s.wheel.pending() == 1);
    CHECK(s.other.cancel() == 0);
    s.other.async_wait(must_complete({}, &again));
    signal.emit(asio::cancellation_type::terminal); // of the wait that was never started
    pass_scripted(s.io, 20ms);
    CHECK(done);
    CHECK(again);
    CHECK(counts_agree(s.wheel.stats()));
}

TEST_CASE("driver_rearming_fails_reschedule_throws_the_waits_go_on") {
    scripted_timers s;
    bool done[2] = {};
    s.timer.expires_after(1h);
    for (bool& d : done) s.timer.async_wait(must_complete({}, &d));
    script::the().fail = true;
    const auto expiry = s.timer.expiry();
    CHECK_THROWS_AS(s.timer.reschedule(10ms), std::bad_alloc);
    script::the().fail = false;
    CHECK(s.timer.expiry() == expiry);
    CHECK(s.wheel.pending() == 1);
    pass_scripted(s.io, 10ms);
    CHECK_FALSE(done[0]); // the old expiry holds
    CHECK(s.timer.reschedule(20ms));
    pass_scripted(s.io, 19ms);
    CHECK_FALSE(done[0]);
    pass_scripted(s.io, 1ms);
    CHECK(done[0]);
    CHECK(done[1]);
}

TEST_CASE_TEMPLATE("executor_refuses_work_cancel_succeeds_and_nobody_is_lost", T, EVERY_TIMER) {
    asio::io_context io;
    bool fail = false;
    typename T::wheel_type wheel{asio::any_io_executor(failing_executor(io, fail))};
    typename T::timer_type timer(wheel, 10ms);
    asio::cancellation_signal signal;
    bool done[2] = {};
    timer.async_wait(must_abort(&done[0]));
    timer.async_wait(asio::bind_cancellation_slot(signal.slot(), must_abort(&done[1])));
    fail = true;
    SUBCASE("all") { CHECK(timer.cancel() == 2); }
    SUBCASE("one by one") {
        CHECK(timer.cancel_one() == 1);
        CHECK(timer.cancel_one() == 1);
    }
    SUBCASE("by a new expiry") { CHECK(timer.expires_after(1h) == 2); }
    SUBCASE("one by its slot") {
        signal.emit(asio::cancellation_type::terminal);
        CHECK(timer.cancel() == 1);
    }
    CHECK(wheel.pending() == 0);
    fail = false;
    run_ready(io);
    CHECK(done[0]);
    CHECK(done[1]);
    CHECK(io.stopped());
    CHECK(counts_agree(wheel.stats()));
}

TEST_CASE_TEMPLATE("executor_refuses_work_an_overdue_wait_completes_a_tick_later", T, EVERY_TIMER) {
    asio::io_context io;
    bool fail = true, done = false;
    typename T::wheel_type wheel{asio::any_io_executor(failing_executor(io, fail))};
    typename T::timer_type timer(wheel);
    timer.async_wait(must_complete({}, &done));
    CHECK(wheel.pending() == 1);
    fail = false;
    pass(io, 10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("executor_refuses_work_the_timers_destructor_still_aborts", T, EVERY_TIMER) {
    asio::io_context io;
    bool fail = false, aborted = false;
    typename T::wheel_type wheel{asio::any_io_executor(failing_executor(io, fail))};
    {
        typename T::timer_type timer(wheel, 1h);
        timer.async_wait(must_abort(&aborted));
        fail = true;
    }
    fail = false;
    CHECK(wheel.pending() == 0);
    run_ready(io);
    CHECK(aborted);
    CHECK(io.stopped());
}
