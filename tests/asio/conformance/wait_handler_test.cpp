// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Any callable will do for a handler; it is invoked exactly once, never early, never inside the call that starts the
// wait.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/asio_versions.hpp"

#include <functional>
#include <memory>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("wait_zero_or_negative_delay_not_inline", W, EVERY_WAIT) {
    for (const std::chrono::nanoseconds delay : {0ns, -1ns, -10'000ns, std::chrono::nanoseconds::min()}) {
        CAPTURE(delay.count());
        W w;
        bool done = false;
        w.wait(delay, must_complete({}, &done));
        CHECK_FALSE(done);
        CHECK(w.wheel.pending() == 1);
        w.run();
        CHECK(done);
        CHECK(w.wheel.pending() == 0);
    }
}

TEST_CASE_TEMPLATE("wait_until_past_not_inline", W, EVERY_WAIT) {
    W w;
    manual_clock::advance(1h);
    for (const auto at : {manual_clock::now() - 30min, manual_clock::now(), manual_clock::time_point::min()}) {
        bool done = false;
        w.wait_until(at, must_complete({}, &done));
        CHECK_FALSE(done);
        w.pass(10ms);
        CHECK(done);
    }
}

TEST_CASE_TEMPLATE("wait_started_in_a_handler_not_inline", W, EVERY_WAIT) {
    W w;
    bool outer = false, inner = false;
    w.wait(10ms, [&](std::error_code) {
        w.wait(0ns, must_complete({}, &inner));
        CHECK_FALSE(inner);
        outer = true;
    });
    w.pass(10ms);
    CHECK(outer);
    CHECK(inner);
}

TEST_CASE_TEMPLATE("wait_completed_does_not_complete_again", W, EVERY_WAIT) {
    W w({.tick = 10ms, .slots = 4});
    w.wait(35ms, must_complete());
    for (int i = 0; i < 100; ++i) w.pass(10ms);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE_TEMPLATE("wait_any_phase_of_the_tick_never_early_at_most_a_tick_late", W, EVERY_WAIT) {
    W w({.tick = 10us, .slots = 8});
    for (int phase = 0; phase < 10; ++phase) {
        for (const auto delay : {1ns, 1000ns, 9'999ns, 10'000ns, 10'001ns, 123'456ns}) {
            CAPTURE(phase);
            CAPTURE(delay.count());
            const auto start = manual_clock::now();
            auto end = manual_clock::time_point::max();
            w.wait(delay, [&](std::error_code ec) {
                CHECK_FALSE(ec);
                end = manual_clock::now();
            });
            while (end == manual_clock::time_point::max()) w.pass(1us);
            CHECK(end - start >= delay);
            CHECK(end - start <= delay + 10us + 1us);
        }
        w.pass(1us);
    }
}

TEST_CASE_TEMPLATE("wait_move_only_handler_accepted", W, EVERY_WAIT) {
    W w;
    int seen = 0;
    w.wait(10ms, [&seen, r = std::make_unique<int>(7)](std::error_code) { seen = *r; });
    CHECK(seen == 0);
    w.pass(10ms);
    CHECK(seen == 7);
}

TEST_CASE_TEMPLATE("wait_const_lvalue_handler_copied", W, EVERY_WAIT) {
    W w;
    int runs = 0;
    const auto handler = [&runs](std::error_code ec) {
        CHECK_FALSE(ec);
        ++runs;
    };
    w.wait(10ms, handler);
    w.wait(20ms, handler);
    w.pass(20ms);
    CHECK(runs == 2);
}

TEST_CASE_TEMPLATE("wait_reference_wrapper_original_invoked", W, EVERY_WAIT) {
    W w;
    struct counter {
        int runs = 0;
        counter() = default;
        counter(const counter&) = delete;
        void operator()(std::error_code) { ++runs; }
    } handler;
    w.wait(10ms, by_reference(handler));
    w.pass(10ms);
    CHECK(handler.runs == 1);
}

TEST_CASE_TEMPLATE("wait_std_function_handler_accepted", W, EVERY_WAIT) {
    W w;
    int runs = 0;
    std::function<void(std::error_code)> handler = [&runs](std::error_code) { ++runs; };
    w.wait(10ms, handler);
    w.wait(10ms, std::move(handler));
    w.pass(10ms);
    CHECK(runs == 2);
}

TEST_CASE_TEMPLATE("wait_function_pointer_handler_accepted", W, EVERY_WAIT) {
    static int runs;
    runs = 0;
    W w;
    w.wait(10ms, +[](std::error_code) { ++runs; });
    w.pass(10ms);
    CHECK(runs == 1);
}

TEST_CASE_TEMPLATE("wait_rvalue_handler_is_never_copied_and_invoked_as_rvalue", W, EVERY_WAIT) {
    struct handler {
        int *copies, *runs;
        handler(int& c, int& r) : copies(&c), runs(&r) {}
        handler(const handler& o) : copies(o.copies), runs(o.runs) { ++*copies; }
        handler(handler&& o) noexcept : copies(o.copies), runs(o.runs) {}
        void operator()(std::error_code) const& { FAIL("an rvalue was expected"); }
        void operator()(std::error_code) && { ++*runs; }
    };
    W w;
    int copies = 0, runs = 0;
    w.wait(10ms, handler(copies, runs));
    w.wait(1h, handler(copies, runs));
    w.pass(10ms);
    CHECK(runs == 1);
    w.wheel.cancel_all();
    w.run();
    CHECK(runs == 2);
    CHECK(copies == 0);
}
