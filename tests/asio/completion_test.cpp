// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A callable runs exactly once, never inside the call that schedules it. For waits see conformance/wait_handler_test.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <memory>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("schedule_zero_delay_not_inline") {
    virtual_wheel w;
    int runs = 0;
    const auto token = w.wheel.schedule(0s, [&] { ++runs; });
    CHECK(runs == 0);
    CHECK(token.pending());
    w.run();
    CHECK(runs == 1);
    CHECK_FALSE(token.pending());
}

TEST_CASE("schedule_move_only_callable_invoked_once") {
    virtual_wheel w;
    int runs = 0;
    w.wheel.schedule(10ms, [&runs, p = std::make_unique<int>(3)] { runs += *p; });
    w.pass(1s);
    w.pass(1s);
    CHECK(runs == 3);
}

TEST_CASE("local_wheel_same_promises_hold") {
    asio::io_context io(1);
    manual_local_timer_wheel wheel(io);
    bool first = false;
    wheel.async_wait(10ms, must_complete({}, &first));
    wheel.async_wait(20ms, must_abort());
    auto token = wheel.schedule(20ms, must_not_run());
    pass(io, 10ms);
    CHECK(first);
    CHECK(token.cancel());
    CHECK(wheel.cancel_all() == 1);
    run_ready(io);
    CHECK(counts_agree(wheel.stats()));
}
