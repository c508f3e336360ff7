// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An empty wheel lets run() return at once: no time passes here, and the context is out of work.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/scripted_driver.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/callback_timer.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

using manual_timer = basic_wheel_timer<testing::manual_timer_wheel>;

TEST_CASE("run_returns_at_once_when_the_last_timer_has_gone") {
    asio::io_context io;
    asio::cancellation_signal signal;
    std::optional<manual_timer_wheel> wheel;
    wheel_options options;
    SUBCASE("tick of 10 ms") {}
    SUBCASE("tick of an hour") { options.tick = 1h; }
    wheel.emplace(io, options);
    for (int again = 0; again < 3; ++again) {
        CAPTURE(again);
        SUBCASE("token") { CHECK(wheel->schedule(30h, must_not_run()).cancel()); }
        SUBCASE("token, nothing to destroy") {
            CHECK(wheel->schedule(30h, [] {}).cancel());
        }
        SUBCASE("callback timer") {
            callback_timer timer(*wheel, [] {});
            CHECK(timer.schedule(30h));
            CHECK(timer.cancel());
        }
        SUBCASE("token, several") {
            const auto a = wheel->schedule(30h, must_not_run()), b = wheel->schedule(3h, must_not_run());
            CHECK(a.cancel());
            run_ready(io);
            CHECK_FALSE(io.stopped());
            CHECK(b.cancel());
        }
        SUBCASE("token, told") {
            bool told = false;
            const auto t = wheel->schedule(30h, must_not_run(), on_cancel([&told] { told = true; }));
            CHECK(t.cancel());
            run_ready(io);
            CHECK(told);
        }
        SUBCASE("cancel_all") {
            wheel->async_wait(30h, must_abort());
            wheel->async_wait(3h, must_abort());
            CHECK(wheel->cancel_all() == 2);
        }
        SUBCASE("cancellation slot") {
            wheel->async_wait(30h, asio::bind_cancellation_slot(signal.slot(), must_abort()));
            signal.emit(asio::cancellation_type::terminal);
        }
        SUBCASE("timer object cancelled") {
            manual_timer timer(*wheel, 30h);
            timer.async_wait(must_abort());
            timer.async_wait(must_abort());
            CHECK(timer.cancel() == 2);
            run_ready(io);
            CHECK(io.stopped());
        }
        SUBCASE("timer object cancelled one by one") {
            manual_timer timer(*wheel, 30h);
            timer.async_wait(must_abort());
            CHECK(timer.cancel_one() == 1);
            run_ready(io);
            CHECK(io.stopped());
        }
        SUBCASE("timer object destroyed") {
            manual_timer timer(*wheel, 30h);
            timer.async_wait(must_abort());
        }
        SUBCASE("operation that ends before its limit") {
            asio::post(io, timeout(*wheel, 30h, [] {}));
        }
        SUBCASE("in a handler, beside one that fires") {
            const auto far = wheel->schedule(30h, must_not_run());
            wheel->schedule(1h, [far] { CHECK(far.cancel()); });
            pass(io, 1h);
        }
        SUBCASE("the wheel itself") {
            wheel->async_wait(30h, must_abort());
            wheel.reset();
            run_ready(io);
            CHECK(io.stopped());
            wheel.emplace(io, options);
        }
        SUBCASE("the wheel is stopped") {
            wheel->async_wait(30h, must_abort());
            CHECK(wheel->stop() == 1);
            run_ready(io);
            CHECK(io.stopped());
            wheel.emplace(io, options);
        }
        run_ready(io);
        CHECK(io.stopped());
        CHECK(wheel->pending() == 0);
        CHECK(wheel->stats().wakeups <= 3);
    }
}

TEST_CASE("run_returns_at_once_on_a_strand_and_for_a_local_wheel") {
    asio::io_context io;
    manual_timer_wheel on_strand(asio::make_strand(io));
    manual_local_timer_wheel local(io);
    for (int again = 0; again < 3; ++again) {
        CHECK(on_strand.schedule(30h, must_not_run()).cancel());
        CHECK(on_strand.schedule(30h, [] {}).cancel());
        CHECK(local.schedule(30h, must_not_run()).cancel());
        CHECK(local.schedule(30h, [] {}).cancel());
        run_ready(io);
        CHECK(io.stopped());
    }
}

// What steady_timer pays: one arming and one handler a round.
TEST_CASE("lone_timer_that_comes_and_goes_costs_one_arming_and_one_handler_a_round") {
    asio::io_context io;
    scripted_wheel wheel(io);
    for (int round = 1; round <= 100; ++round) {
        SUBCASE("silent") { CHECK(wheel.schedule(30s, must_not_run()).cancel()); }
        SUBCASE("aborted by its slot") {
            asio::cancellation_signal signal;
            wheel.async_wait(30s, asio::bind_cancellation_slot(signal.slot(), must_abort()));
            signal.emit(asio::cancellation_type::total);
            io.restart();
            CHECK(io.poll() == 1); // the wait that was called off is the turn in which the abort is delivered
        }
        SUBCASE("timer object") {
            basic_wheel_timer<basic_timer_wheel<scripted_clock, single_threaded>> timer(wheel, 30s);
            timer.async_wait(must_abort());
            CHECK(timer.cancel() == 1);
        }
        io.restart();
        CHECK(io.poll() <= 1);
        CHECK(io.stopped());
        CHECK(script::the().arms == round);
        CHECK(script::the().calls_off == round);
    }
}

// A connection that starts its next request where the last one has ended.
TEST_CASE("lone_timer_that_comes_back_before_the_turn_arms_the_driver_once") {
    asio::io_context io;
    scripted_wheel wheel(io);
    auto token = wheel.schedule(30s, must_not_run());
    for (int round = 0; round < 100; ++round) {
        CHECK(token.cancel());
        token = wheel.schedule(30s, must_not_run());
        io.restart();
        CHECK(io.poll() == 1);
    }
    CHECK(script::the().arms <= 2); // the first time the wait was called off
    CHECK(token.cancel());
    io.restart();
    CHECK(io.poll() == 2); // the turn that looks, and the wait that it called off
    CHECK_FALSE(script::the().armed_for);
}
