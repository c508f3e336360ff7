// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cancellation of one wait through its handler's slot: all types alike, in time or not at all.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>

#include <memory>
#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::bind_cancellation_slot;
using asio::cancellation_signal;
using asio::cancellation_type;

TEST_CASE_TEMPLATE("emit_terminal_partial_or_total_aborts_not_inline", W, EVERY_WAIT) {
    for (const auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total,
                            cancellation_type::all, cancellation_type::terminal | cancellation_type::total}) {
        CAPTURE(static_cast<unsigned>(type));
        W w;
        cancellation_signal signal;
        bool done = false;
        w.wait(1h, bind_cancellation_slot(signal.slot(), must_abort(&done)));
        signal.emit(type);
        CHECK_FALSE(done);
        CHECK(w.wheel.pending() == 0); // removed at once
        w.run();
        CHECK(done);
        CHECK(w.wheel.stats().cancelled == 1);
    }
}

TEST_CASE_TEMPLATE("emit_none_is_ignored", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    bool done = false;
    w.wait(10ms, bind_cancellation_slot(signal.slot(), must_complete({}, &done)));
    signal.emit(cancellation_type::none);
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("emit_twice_aborts_once", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    w.wait(1h, bind_cancellation_slot(signal.slot(), must_abort()));
    signal.emit(cancellation_type::total);
    signal.emit(cancellation_type::terminal);
    w.run();
    signal.emit(cancellation_type::terminal);
    w.run();
    CHECK(w.wheel.stats().cancelled == 1);
}

TEST_CASE_TEMPLATE("emit_before_the_start_has_no_effect", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    signal.emit(cancellation_type::terminal);
    bool done = false;
    w.wait(10ms, bind_cancellation_slot(signal.slot(), must_complete({}, &done)));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("emit_after_expiry_before_the_turn_still_aborts", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    bool done = false;
    w.wait(10ms, bind_cancellation_slot(signal.slot(), must_abort(&done)));
    manual_clock::advance(10ms);
    signal.emit(cancellation_type::terminal);
    w.run();
    CHECK(done);
}

TEST_CASE_TEMPLATE("emit_after_completion_does_not_touch_the_next_wait", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    w.wait(10ms, bind_cancellation_slot(signal.slot(), must_complete()));
    w.pass(10ms);
    // This one gets the memory, and so the index, of the first.
    bool done = false;
    w.wait(10ms, bind_cancellation_slot(asio::cancellation_slot(), must_complete({}, &done)));
    signal.emit(cancellation_type::terminal);
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("emit_in_its_own_handler_is_harmless", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    int runs = 0;
    w.wait(10ms, bind_cancellation_slot(signal.slot(), [&](std::error_code ec) {
               CHECK_FALSE(ec);
               signal.emit(cancellation_type::terminal);
               ++runs;
           }));
    w.pass(10ms);
    CHECK(runs == 1);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE_TEMPLATE("emit_in_a_handler_sibling_of_the_same_tick_is_aborted", W, EVERY_WAIT) {
    W w;
    cancellation_signal signals[2];
    int succeeded = 0, aborted = 0;
    for (int i = 0; i < 2; ++i)
        w.wait(10ms, bind_cancellation_slot(signals[i].slot(), [&, i](std::error_code ec) {
                   ec ? ++aborted : ++succeeded;
                   signals[1 - i].emit(cancellation_type::total);
               }));
    w.pass(10ms);
    CHECK(succeeded == 1);
    CHECK(aborted == 1);
}

TEST_CASE_TEMPLATE("slot_reused_only_the_second_wait_is_aborted", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    bool first = false, second = false;
    w.wait(10ms, bind_cancellation_slot(signal.slot(), must_complete({}, &first)));
    w.wait(10ms, bind_cancellation_slot(signal.slot(), must_abort(&second)));
    signal.emit(cancellation_type::terminal);
    w.pass(10ms);
    CHECK(first);
    CHECK(second);
}

TEST_CASE_TEMPLATE("slot_reused_by_the_next_wait_in_its_own_handler", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    bool aborted = false;
    w.wait(10ms, bind_cancellation_slot(signal.slot(), [&](std::error_code ec) {
               CHECK_FALSE(ec);
               w.wait(1h, bind_cancellation_slot(signal.slot(), must_abort(&aborted)));
           }));
    w.pass(10ms);
    signal.emit(cancellation_type::terminal);
    w.run();
    CHECK(aborted);
}

TEST_CASE_TEMPLATE("signal_destroyed_while_pending_wait_goes_on", W, EVERY_WAIT) {
    W w;
    bool done = false;
    std::optional<cancellation_signal> signal(std::in_place);
    w.wait(10ms, bind_cancellation_slot(signal->slot(), must_complete({}, &done)));
    signal.reset();
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("signal_owned_by_the_handler_that_it_cancels", W, EVERY_WAIT) {
    W w;
    auto signal = std::make_shared<cancellation_signal>();
    bool done = false;
    w.wait(1h, bind_cancellation_slot(signal->slot(),
                                      [signal, done = must_abort(&done)](std::error_code ec) mutable { done(ec); }));
    cancellation_signal& borrowed = *signal;
    signal.reset();
    borrowed.emit(cancellation_type::terminal);
    w.run();
    CHECK(done);
}

TEST_CASE_TEMPLATE("slot_beside_an_executor_abort_goes_to_that_executor", W, EVERY_WAIT) {
    W w;
    asio::io_context other;
    cancellation_signal signal;
    bool done = false;
    w.wait(1h, bind_cancellation_slot(signal.slot(), asio::bind_executor(other, must_abort(&done))));
    signal.emit(cancellation_type::terminal);
    w.run();
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
}

TEST_CASE_TEMPLATE("emit_after_the_wheel_moved_aborts", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    bool done = false;
    w.wait(1h, bind_cancellation_slot(signal.slot(), must_abort(&done)));
    const typename W::wheel_type moved(std::move(w.wheel));
    signal.emit(cancellation_type::terminal);
    CHECK(moved.pending() == 0);
    w.run();
    CHECK(done);
}

TEST_CASE_TEMPLATE("emit_after_the_wheel_is_destroyed_is_harmless", W, EVERY_WAIT) {
    W w;
    cancellation_signal signal;
    bool done = false, next = false;
    w.wait(1h, bind_cancellation_slot(signal.slot(), must_abort(&done)));
    w.wheel = typename W::wheel_type(w.io);
    signal.emit(cancellation_type::terminal); // already ended, not yet delivered
    w.run();
    CHECK(done);
    signal.emit(cancellation_type::terminal);
    w.wheel = typename W::wheel_type(w.io); // with the body of the first, if no timer holds on to that
    w.wait(10ms, must_complete({}, &next));
    signal.emit(cancellation_type::terminal);
    w.pass(10ms);
    CHECK(next);
}
