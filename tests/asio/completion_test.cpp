// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wait completes exactly once, never inside the call that starts it, and takes any callable for a handler.
#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

#include <functional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("wait_zero_or_negative_delay_not_inline") {
    for (const std::chrono::nanoseconds delay : {0ns, -1ns, -10'000ns, std::chrono::nanoseconds::min()}) {
        CAPTURE(delay.count());
        virtual_wheel w;
        bool done = false;
        w.wheel.async_wait(delay, must_complete({}, &done));
        CHECK_FALSE(done);
        CHECK(w.wheel.pending() == 1);
        w.run();
        CHECK(done);
        CHECK(w.wheel.pending() == 0);
    }
}

TEST_CASE("wait_until_past_not_inline") {
    virtual_wheel w;
    manual_clock::advance(1h);
    for (const auto at : {manual_clock::now() - 30min, manual_clock::now(), manual_clock::time_point::min()}) {
        bool done = false;
        w.wheel.async_wait_until(at, must_complete({}, &done));
        CHECK_FALSE(done);
        w.pass(10ms);
        CHECK(done);
    }
}

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

TEST_CASE("wait_completed_does_not_complete_again") {
    virtual_wheel w({.tick = 10ms, .slots = 4});
    w.wheel.async_wait(35ms, must_complete());
    for (int i = 0; i < 100; ++i) w.pass(10ms);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE("wait_move_only_handler_accepted") {
    virtual_wheel w;
    auto result = std::make_unique<int>(0);
    int& seen = *result;
    w.wheel.async_wait(10ms, [r = std::move(result)](std::error_code) {
        *r = 7;
        CHECK(*r == 7);
    });
    CHECK(seen == 0);
    w.pass(10ms);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE("wait_const_lvalue_handler_copied") {
    virtual_wheel w;
    int runs = 0;
    const auto handler = [&runs](std::error_code ec) {
        CHECK_FALSE(ec);
        ++runs;
    };
    w.wheel.async_wait(10ms, handler);
    w.wheel.async_wait(20ms, handler);
    w.pass(20ms);
    CHECK(runs == 2);
}

TEST_CASE("wait_reference_wrapper_original_invoked") {
    virtual_wheel w;
    struct counter {
        int runs = 0;
        counter() = default;
        counter(const counter&) = delete;
        void operator()(std::error_code) { ++runs; }
    } handler;
    w.wheel.async_wait(10ms, std::ref(handler));
    w.pass(10ms);
    CHECK(handler.runs == 1);
}

TEST_CASE("wait_std_function_handler_accepted") {
    virtual_wheel w;
    int runs = 0;
    std::function<void(std::error_code)> handler = [&runs](std::error_code) { ++runs; };
    w.wheel.async_wait(10ms, handler);
    w.wheel.async_wait(10ms, std::move(handler));
    w.pass(10ms);
    CHECK(runs == 2);
}

TEST_CASE("wait_function_pointer_handler_accepted") {
    static int runs;
    runs = 0;
    virtual_wheel w;
    w.wheel.async_wait(10ms, +[](std::error_code) { ++runs; });
    w.pass(10ms);
    CHECK(runs == 1);
}

TEST_CASE("schedule_move_only_callable_invoked_once") {
    virtual_wheel w;
    int runs = 0;
    w.wheel.schedule(10ms, [&runs, p = std::make_unique<int>(3)] { runs += *p; });
    w.pass(1s);
    w.pass(1s);
    CHECK(runs == 3);
}

TEST_CASE("wait_move_only_handler_is_never_copied") {
    struct handler {
        int* copies;
        explicit handler(int& c) : copies(&c) {}
        handler(const handler& o) : copies(o.copies) { ++*copies; }
        handler(handler&& o) noexcept : copies(o.copies) {}
        void operator()(std::error_code) const {}
    };
    virtual_wheel w;
    int copies = 0;
    w.wheel.async_wait(10ms, handler(copies));
    w.pass(10ms);
    CHECK(copies == 0);
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
