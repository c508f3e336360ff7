// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Handlers run on the executor they are bound to, and keep its context running meanwhile.
#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

#include <asio/bind_executor.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#include <future>
#include <thread>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("bound_to_another_context_runs_there_only") {
    asio::io_context other;
    virtual_wheel w;
    bool done = false;
    w.wheel.async_wait(10ms, asio::bind_executor(other, must_complete({}, &done)));
    w.pass(10ms);
    CHECK(w.wheel.pending() == 0);
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
}

TEST_CASE("bound_to_another_context_abort_runs_there_too") {
    asio::io_context other;
    virtual_wheel w;
    bool done = false;
    w.wheel.async_wait(10ms, asio::bind_executor(other, must_abort(&done)));
    w.wheel.cancel_all();
    w.run();
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
}

TEST_CASE("bound_to_another_context_keeps_that_one_running") {
    asio::io_context other;
    virtual_wheel w;
    w.wheel.async_wait(10ms, asio::bind_executor(other, must_complete()));
    auto token = w.wheel.schedule(10ms, asio::bind_executor(other, must_not_run()));
    CHECK(run_ready(other) == 0);
    CHECK_FALSE(other.stopped()); // it has work
    CHECK(token.cancel());
    w.pass(10ms);
    CHECK(run_ready(other) == 1);
    CHECK(other.stopped());
}

TEST_CASE("bound_to_the_wheels_own_executor_runs_in_the_turn") {
    virtual_wheel w;
    int runs = 0;
    for (int i = 0; i < 3; ++i) w.wheel.async_wait(10ms, asio::bind_executor(w.io, [&](std::error_code) { ++runs; }));
    w.wheel.async_wait(
        10ms, asio::bind_executor(asio::any_io_executor(w.io.get_executor()), [&](std::error_code) { ++runs; }));
    manual_clock::advance(10ms);
    w.io.restart();
    w.io.poll_one();
    CHECK(runs == 4);
}

TEST_CASE("bound_to_a_strand_handlers_run_in_it") {
    virtual_wheel w;
    auto strand = asio::make_strand(w.io);
    int runs = 0;
    w.wheel.async_wait(10ms, asio::bind_executor(strand, [&](std::error_code) {
                           CHECK(strand.running_in_this_thread());
                           ++runs;
                       }));
    w.wheel.schedule(10ms, asio::bind_executor(strand, [&] {
                         CHECK(strand.running_in_this_thread());
                         ++runs;
                     }));
    w.pass(10ms);
    CHECK(runs == 2);
}

TEST_CASE("bound_to_a_thread_pool_handler_runs_on_its_thread") {
    asio::thread_pool pool(1);
    virtual_wheel w;
    std::promise<std::thread::id> ran;
    w.wheel.async_wait(10ms, asio::bind_executor(pool, [&](std::error_code ec) {
                           CHECK_FALSE(ec);
                           ran.set_value(std::this_thread::get_id());
                       }));
    w.pass(10ms);
    CHECK(ran.get_future().get() != std::this_thread::get_id());
    pool.join();
}

TEST_CASE("wheel_on_a_strand_its_handlers_run_in_the_strand") {
    asio::io_context io;
    auto strand = asio::make_strand(io);
    manual_timer_wheel wheel(strand);
    int runs = 0;
    wheel.async_wait(10ms, [&](std::error_code) {
        CHECK(strand.running_in_this_thread());
        ++runs;
    });
    wheel.async_wait(1h, [&](std::error_code ec) {
        CHECK(strand.running_in_this_thread());
        CHECK(ec == asio::error::operation_aborted);
        ++runs;
    });
    pass(io, 10ms);
    CHECK(runs == 1);
    wheel.cancel_all();
    run_ready(io);
    CHECK(runs == 2);
}

TEST_CASE("wheel_with_a_concrete_executor_type_works") {
    asio::io_context io;
    using wheel_type = basic_timer_wheel<manual_clock, multi_threaded, hashed_wheel, asio::io_context::executor_type>;
    wheel_type wheel(io);
    static_assert(std::is_same_v<decltype(wheel.get_executor()), asio::io_context::executor_type>);
    bool done = false;
    wheel.async_wait(10ms, must_complete({}, &done));
    pass(io, 10ms);
    CHECK(done);
}

TEST_CASE("on_cancel_bound_to_another_context_runs_there") {
    asio::io_context other;
    virtual_wheel w;
    int cancelled = 0;
    auto token = w.wheel.schedule(10ms, must_not_run(), asio::bind_executor(other, [&] { ++cancelled; }));
    CHECK(token.cancel());
    w.run();
    CHECK(cancelled == 0);
    run_ready(other);
    CHECK(cancelled == 1);
}

TEST_CASE("pending_wait_keeps_the_context_running_finished_one_does_not") {
    virtual_wheel w;
    CHECK(w.run() == 0);
    CHECK(w.io.stopped()); // an empty wheel is no work
    w.wheel.async_wait(10ms, must_complete());
    w.run();
    CHECK_FALSE(w.io.stopped());
    w.pass(10ms);
    CHECK(w.io.stopped());
}
