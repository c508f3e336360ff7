// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cancellation of a single wait through its handler's slot.
#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::bind_cancellation_slot;
using asio::cancellation_signal;
using asio::cancellation_type;

TEST_CASE("emit_terminal_partial_or_total_aborts_not_inline") {
    for (const auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total,
                            cancellation_type::all, cancellation_type::terminal | cancellation_type::total}) {
        CAPTURE(static_cast<unsigned>(type));
        virtual_wheel w;
        cancellation_signal signal;
        bool done = false;
        w.wheel.async_wait(1h, bind_cancellation_slot(signal.slot(), must_abort(&done)));
        signal.emit(type);
        CHECK_FALSE(done);
        CHECK(w.wheel.pending() == 0); // removed at once
        w.run();
        CHECK(done);
        CHECK(w.wheel.stats().cancelled == 1);
    }
}

TEST_CASE("emit_none_is_ignored") {
    virtual_wheel w;
    cancellation_signal signal;
    bool done = false;
    w.wheel.async_wait(10ms, bind_cancellation_slot(signal.slot(), must_complete({}, &done)));
    signal.emit(cancellation_type::none);
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE("emit_twice_aborts_once") {
    virtual_wheel w;
    cancellation_signal signal;
    w.wheel.async_wait(1h, bind_cancellation_slot(signal.slot(), must_abort()));
    signal.emit(cancellation_type::total);
    signal.emit(cancellation_type::terminal);
    w.run();
    signal.emit(cancellation_type::terminal);
    w.run();
    CHECK(w.wheel.stats().cancelled == 1);
}

TEST_CASE("emit_before_the_start_has_no_effect") {
    virtual_wheel w;
    cancellation_signal signal;
    signal.emit(cancellation_type::terminal);
    bool done = false;
    w.wheel.async_wait(10ms, bind_cancellation_slot(signal.slot(), must_complete({}, &done)));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE("emit_after_completion_does_not_touch_the_next_wait") {
    virtual_wheel w;
    cancellation_signal signal;
    w.wheel.async_wait(10ms, bind_cancellation_slot(signal.slot(), must_complete()));
    w.pass(10ms);
    // This one gets the memory, and so the index, of the first.
    bool done = false;
    w.wheel.async_wait(10ms, bind_cancellation_slot(asio::cancellation_slot(), must_complete({}, &done)));
    signal.emit(cancellation_type::terminal);
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE("emit_in_a_handler_sibling_of_the_same_tick_is_aborted") {
    virtual_wheel w;
    cancellation_signal signals[2];
    int succeeded = 0, aborted = 0;
    for (int i = 0; i < 2; ++i)
        w.wheel.async_wait(10ms, bind_cancellation_slot(signals[i].slot(), [&, i](std::error_code ec) {
                               ec ? ++aborted : ++succeeded;
                               signals[1 - i].emit(cancellation_type::total);
                           }));
    w.pass(10ms);
    CHECK(succeeded == 1);
    CHECK(aborted == 1);
}

TEST_CASE("slot_reused_only_the_second_wait_is_aborted") {
    virtual_wheel w;
    cancellation_signal signal;
    bool first = false, second = false;
    w.wheel.async_wait(10ms, bind_cancellation_slot(signal.slot(), must_complete({}, &first)));
    w.wheel.async_wait(10ms, bind_cancellation_slot(signal.slot(), must_abort(&second)));
    signal.emit(cancellation_type::terminal);
    w.pass(10ms);
    CHECK(first);
    CHECK(second);
}

TEST_CASE("signal_destroyed_while_pending_wait_goes_on") {
    virtual_wheel w;
    bool done = false;
    std::optional<cancellation_signal> signal(std::in_place);
    w.wheel.async_wait(10ms, bind_cancellation_slot(signal->slot(), must_complete({}, &done)));
    signal.reset();
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE("emit_after_the_wheel_is_destroyed_is_harmless") {
    asio::io_context io;
    cancellation_signal signal;
    bool done = false;
    std::optional<manual_timer_wheel> wheel(io);
    wheel->async_wait(1h, bind_cancellation_slot(signal.slot(), must_abort(&done)));
    wheel.reset();
    signal.emit(cancellation_type::terminal); // already ended, not yet delivered
    run_ready(io);
    CHECK(done);
    signal.emit(cancellation_type::terminal);

    // The next wheel has the body of the first.
    wheel.emplace(io);
    bool next = false;
    wheel->async_wait(10ms, must_complete({}, &next));
    signal.emit(cancellation_type::terminal);
    pass(io, 10ms);
    CHECK(next);
}

TEST_CASE("emit_after_the_wheel_moved_aborts") {
    virtual_wheel w;
    cancellation_signal signal;
    bool done = false;
    w.wheel.async_wait(1h, bind_cancellation_slot(signal.slot(), must_abort(&done)));
    manual_timer_wheel moved(std::move(w.wheel));
    signal.emit(cancellation_type::terminal);
    w.run();
    CHECK(done);
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
