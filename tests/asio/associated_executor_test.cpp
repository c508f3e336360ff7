// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Callables run on the executor they are bound to, and keep its context running meanwhile; a strand behind an erased
// executor. For waits see conformance/wait_executor_test and conformance/io_executor_test.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <asio/bind_executor.hpp>
#include <asio/strand.hpp>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("callables_bound_to_another_context_keep_that_one_running") {
    asio::io_context other;
    virtual_wheel w;
    bool ran = false;
    w.wheel.schedule(10ms, asio::bind_executor(other, [&ran] { ran = true; }));
    const auto token = w.wheel.schedule(10ms, asio::bind_executor(other, must_not_run()));
    CHECK(run_ready(other) == 0);
    CHECK_FALSE(other.stopped()); // it has work
    CHECK(token.cancel());
    w.pass(10ms);
    CHECK_FALSE(ran);
    CHECK(run_ready(other) == 1);
    CHECK(ran);
    CHECK(other.stopped());
}

TEST_CASE("callable_bound_to_a_strand_runs_in_it") {
    virtual_wheel w;
    const auto strand = asio::make_strand(w.io);
    int runs = 0;
    w.wheel.schedule(10ms, asio::bind_executor(strand, [&] {
                         CHECK(strand.running_in_this_thread());
                         ++runs;
                     }));
    w.pass(10ms);
    CHECK(runs == 1);
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

TEST_CASE("on_cancel_bound_to_another_context_runs_there") {
    asio::io_context other;
    virtual_wheel w;
    int cancelled = 0;
    auto token = w.wheel.schedule(10ms, must_not_run(), on_cancel(asio::bind_executor(other, [&] { ++cancelled; })));
    CHECK(token.cancel());
    w.run();
    CHECK(cancelled == 0);
    run_ready(other);
    CHECK(cancelled == 1);
}
