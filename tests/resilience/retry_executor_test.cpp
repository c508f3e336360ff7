// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a retry runs: attempts end, the predicate is asked and the handler is called on the handler's executor, else
// the wheel's.
#include "support/resilience/retry_rig.hpp"

#include <asio/bind_executor.hpp>
#include <asio/strand.hpp>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("retry_all_runs_on_the_handlers_strand", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    auto strand = asio::make_strand(r.io);
    int asked = 0, called = 0, later_starts = 0;
    virtual_policy p = doubling();
    p.retryable = [&](const std::error_code&) {
        CHECK(strand.running_in_this_thread());
        ++asked;
        return true;
    };
    r.read.on_start = [&] {
        if (r.read.started == 1) return; // in the initiating function
        CHECK(strand.running_in_this_thread());
        ++later_starts;
    };
    r.start(p, asio::bind_executor(strand, [&](std::error_code, const retry_result&, std::size_t) {
                CHECK(strand.running_in_this_thread());
                ++called;
            }));
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_fails();
    r.pass(210ms);
    r.attempt_fails();
    CHECK(asked == 3);
    CHECK(later_starts == 2);
    CHECK(called == 1);
}

TEST_CASE_TEMPLATE("retry_on_the_handlers_other_context", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    retry_rig<Wheel> r;
    retry_outcome out;
    r.start(doubling(), asio::bind_executor(other, out.handler()));
    r.read.complete(asio::error::eof, 0);
    CHECK(r.run() == 0);
    run_ready(other); // decides, and waits
    CHECK(r.wheel.pending() == 1);
    r.pass(110ms);
    CHECK(r.read.started == 1);
    run_ready(other);
    CHECK(r.read.started == 2);
    r.read.complete({}, 1);
    CHECK(out.times == 0);
    run_ready(other);
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("retry_without_an_executor_runs_on_the_wheels_not_the_operations", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    retry_rig<Wheel> r;
    scripted_read read(other.get_executor());
    retry_outcome out;
    async_retry(r.wheel, doubling(), virtual_reading{[&](virtual_attempt&) -> scripted_read& { return read; }},
                out.handler());
    read.complete({}, 1);
    CHECK(run_ready(other) == 0);
    CHECK(out.times == 0);
    r.run();
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("retry_keeps_its_context_running_until_the_handler_was_called", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    retry_rig<Wheel> r;
    retry_outcome out;
    r.start(doubling(), asio::bind_executor(other, out.handler()));
    other.poll();
    CHECK_FALSE(other.stopped()); // there is work
    r.read.complete({}, 1);
    other.restart();
    other.run();
    CHECK(out.times == 1);
    CHECK(other.stopped());
}
