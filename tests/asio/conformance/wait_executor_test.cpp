// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Handlers run on the executor they are bound to and keep its context running meanwhile; pending waits keep the
// wheel's.
#include "support/asio/asio_backend.hpp"
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_executor.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#include <future>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("bound_to_another_context_runs_there_only", W, EVERY_WAIT) {
    asio::io_context other;
    W w;
    bool done = false;
    w.wait(10ms, asio::bind_executor(other, must_complete({}, &done)));
    w.pass(10ms);
    CHECK(w.wheel.pending() == 0);
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
}

TEST_CASE_TEMPLATE("bound_to_another_context_abort_runs_there_too", W, EVERY_WAIT) {
    asio::io_context other;
    W w;
    bool done = false;
    w.wait(10ms, asio::bind_executor(other, must_abort(&done)));
    w.wheel.cancel_all();
    w.run();
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
}

TEST_CASE_TEMPLATE("bound_to_another_context_refusal_runs_there_too", W, EVERY_WAIT) {
    asio::io_context other;
    W w;
    w.wheel.stop();
    bool done = false;
    w.wait(10ms, asio::bind_executor(other, must_complete(errc::stopped, &done)));
    w.run();
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
}

TEST_CASE_TEMPLATE("bound_to_another_context_keeps_that_one_running", W, EVERY_WAIT) {
    asio::io_context other;
    W w;
    w.wait(10ms, asio::bind_executor(other, must_complete()));
    CHECK(run_ready(other) == 0);
    CHECK_FALSE(other.stopped()); // it has work
    w.pass(10ms);
    CHECK(run_ready(other) == 1);
    CHECK(other.stopped());
}

TEST_CASE_TEMPLATE("bound_to_the_wheels_own_executor_runs_in_the_turn", W, EVERY_WAIT) {
    W w;
    int runs = 0;
    for (int i = 0; i < 3; ++i) w.wait(10ms, asio::bind_executor(w.io, [&](std::error_code) { ++runs; }));
    w.wait(10ms, asio::bind_executor(asio::any_io_executor(w.io.get_executor()), [&](std::error_code) { ++runs; }));
    manual_clock::advance(10ms);
    w.io.restart();
    if (on_io_uring) w.io.poll_one(); // Asio's own
    w.io.poll_one();
    CHECK(runs == 4);
}

TEST_CASE_TEMPLATE("bound_to_a_strand_handlers_run_in_it_also_aborted", W, EVERY_WAIT) {
    W w;
    const auto strand = asio::make_strand(w.io);
    int runs = 0;
    const auto handler = [&](std::error_code) {
        CHECK(strand.running_in_this_thread());
        ++runs;
    };
    w.wait(10ms, asio::bind_executor(strand, handler));
    w.wait(1h, asio::bind_executor(strand, handler));
    w.pass(10ms);
    CHECK(runs == 1);
    w.wheel.cancel_all();
    w.run();
    CHECK(runs == 2);
}

TEST_CASE_TEMPLATE("bound_to_a_thread_pool_handler_runs_on_its_thread", W, EVERY_WAIT) {
    asio::thread_pool pool(1);
    W w;
    std::promise<std::thread::id> ran;
    w.wait(10ms, asio::bind_executor(pool, [&](std::error_code ec) {
               CHECK_FALSE(ec);
               ran.set_value(std::this_thread::get_id());
           }));
    w.pass(10ms);
    CHECK(ran.get_future().get() != std::this_thread::get_id());
    pool.join();
}

TEST_CASE_TEMPLATE("pending_wait_keeps_the_context_running_finished_one_does_not", W, EVERY_WAIT) {
    W w;
    CHECK(w.run() == 0);
    CHECK(w.io.stopped()); // an empty wheel is no work
    w.wait(10ms, must_complete());
    w.run();
    CHECK_FALSE(w.io.stopped());
    w.pass(10ms);
    CHECK(w.io.stopped());
}

TEST_CASE_TEMPLATE("last_wait_cancelled_the_context_runs_out_of_work_within_a_tick", W, EVERY_WAIT) {
    W w;
    w.wait(1h, must_abort());
    w.wait(2h, must_abort());
    w.wheel.cancel_all();
    w.run();
    w.pass(10ms);
    CHECK(w.io.stopped());
    CHECK(w.wheel.stats().cancelled == 2);
}

TEST_CASE_TEMPLATE("run_one_and_poll_one_deliver_each_wait_once", W, EVERY_WAIT) {
    for (const bool poll : {false, true}) {
        W w({.work_per_turn = 1});
        int runs = 0;
        for (int i = 0; i < 5; ++i) w.wait(10ms, [&](std::error_code ec) { runs += !ec; });
        manual_clock::advance(10ms);
        w.io.restart();
        for (int i = 0; i < 100 && runs < 5; ++i) {
            const int before = runs;
            CHECK((poll ? w.io.poll_one() : w.io.run_one()) == 1);
            CHECK(runs <= before + 1); // a turn is one handler to the context
        }
        CHECK(runs == 5);
    }
}

TEST_CASE_TEMPLATE("real_clock_run_returns_when_the_last_wait_is_done", Locking, multi_threaded, single_threaded) {
    asio::io_context io;
    basic_timer_wheel<std::chrono::steady_clock, Locking> wheel(io, {.tick = 1ms});
    basic_wheel_timer timer(wheel), cancelled(wheel, 1h);
    bool done = false, aborted = false;
    timer.async_wait(must_complete({}, &done));
    cancelled.async_wait(must_abort(&aborted));
    wheel.async_wait(0ms, [&](std::error_code) { CHECK(cancelled.cancel() == 1); });
    io.run(); // returns: nothing is left
    CHECK(done);
    CHECK(aborted);
}
