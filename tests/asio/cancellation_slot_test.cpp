// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The slot of a wait for a point in time, and of one that the wheel refused. More: conformance/wait_cancellation_test.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::bind_cancellation_slot;
using asio::cancellation_signal;
using asio::cancellation_type;

TEST_CASE("emit_aborts_a_wait_for_a_time_point_not_inline") {
    virtual_wheel w;
    cancellation_signal signal;
    bool done = false;
    w.wheel.async_wait(manual_clock::now() + 1h, bind_cancellation_slot(signal.slot(), must_abort(&done)));
    signal.emit(cancellation_type::terminal);
    CHECK_FALSE(done);
    CHECK(w.wheel.pending() == 0); // removed at once
    w.run();
    CHECK(done);
    CHECK(w.wheel.stats().cancelled == 1);
}

TEST_CASE("rejected_wait_its_slot_does_not_abort_the_next_one") {
    virtual_wheel w({.max_pending = 1});
    cancellation_signal signal;
    auto token = w.wheel.schedule(1h, must_not_run());
    w.wheel.async_wait(10ms, bind_cancellation_slot(signal.slot(), must_complete(errc::too_many_timers)));
    CHECK(token.cancel());
    w.run();
    // Of the same size, so that it gets the very block of the rejected one.
    cancellation_signal other;
    bool done = false;
    w.wheel.async_wait(10ms, bind_cancellation_slot(other.slot(), must_complete({}, &done)));
    signal.emit(cancellation_type::terminal);
    w.pass(10ms);
    CHECK(done);
}
