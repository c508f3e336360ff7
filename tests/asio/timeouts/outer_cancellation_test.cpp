// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cancellation of a limited operation by its user, through the slot of the user's handler.
#include "support/asio/scripted_operation.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::bind_cancellation_slot;
using asio::cancellation_signal;
using asio::cancellation_type;

TEST_CASE_TEMPLATE("emit_each_type_passes_through", Wheel, BOTH_WHEELS) {
    for (const auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total,
                            cancellation_type::all, cancellation_type::none}) {
        CAPTURE(static_cast<unsigned>(type));
        timeout_rig<Wheel> r;
        r.be_deaf();
        cancellation_signal signal;
        read_result result;
        r.read.async_run(timeout(r.wheel, 1h, bind_cancellation_slot(signal.slot(), result.handler())));
        signal.emit(type);
        REQUIRE(r.read.cancelled.size() == 1);
        CHECK(r.read.cancelled[0] == type);
        CHECK(r.wheel.pending() == 1); // the limit stays: the operation may not heed it
        r.read.complete({}, 3);
        r.run();
        CHECK(result.bytes == 3);
        CHECK(r.wheel.pending() == 0);
    }
}

TEST_CASE_TEMPLATE("emit_heeded_is_operation_aborted_not_timed_out", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    cancellation_signal signal;
    read_result result;
    r.read.async_run(timeout(r.wheel, 1h, bind_cancellation_slot(signal.slot(), result.handler())));
    signal.emit(cancellation_type::total);
    r.run();
    CHECK(result.times == 1);
    CHECK(result.ec == asio::error::operation_aborted);
    CHECK(r.wheel.pending() == 0);
    signal.emit(cancellation_type::terminal);
    r.pass(2h);
    CHECK(result.times == 1);
    CHECK(r.read.cancelled.size() == 1);
}

TEST_CASE_TEMPLATE("emit_before_the_start_does_not_touch_the_operation", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    cancellation_signal signal;
    read_result result;
    signal.emit(cancellation_type::terminal);
    r.read.async_run(timeout(r.wheel, 10ms, bind_cancellation_slot(signal.slot(), result.handler())));
    CHECK(r.read.cancelled.empty());
    r.read.complete({}, 1);
    r.run();
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("emit_after_completion_does_not_touch_the_next_operation", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    cancellation_signal signal;
    read_result first, second;
    r.read.async_run(timeout(r.wheel, 10ms, bind_cancellation_slot(signal.slot(), first.handler())));
    r.read.complete({}, 1);
    r.run();
    // This one gets the memory of the first.
    cancellation_signal other;
    r.read.async_run(timeout(r.wheel, 10ms, bind_cancellation_slot(other.slot(), second.handler())));
    signal.emit(cancellation_type::terminal);
    CHECK(r.read.cancelled.empty());
    other.emit(cancellation_type::terminal);
    CHECK(r.read.cancelled.size() == 1);
    r.run();
    CHECK(second.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("slot_reused_only_the_second_operation_is_cancelled", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    cancellation_signal signal;
    scripted_read other(r.io.get_executor());
    read_result first, second;
    other.async_run(timeout(r.wheel, 10ms, bind_cancellation_slot(signal.slot(), first.handler())));
    r.read.async_run(timeout(r.wheel, 10ms, bind_cancellation_slot(signal.slot(), second.handler())));
    signal.emit(cancellation_type::terminal);
    CHECK(other.cancelled.empty());
    CHECK(r.read.cancelled.size() == 1);
    other.complete({}, 1);
    r.run();
    CHECK(first.times == 1);
    CHECK(second.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("signal_destroyed_while_pending_the_limit_still_works", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    std::optional<cancellation_signal> signal(std::in_place);
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, bind_cancellation_slot(signal->slot(), result.handler())));
    signal.reset();
    r.pass(20ms);
    CHECK(result.ec == asio::error::timed_out);
}

TEST_CASE_TEMPLATE("emit_after_the_wheel_died_is_harmless_and_still_cancels", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    cancellation_signal signal;
    read_result result;
    scripted_read read(io.get_executor()); // deaf
    std::optional<Wheel> wheel(io);
    read.async_run(timeout(*wheel, 1h, bind_cancellation_slot(signal.slot(), result.handler())));
    wheel.reset();
    run_ready(io);
    CHECK(read.cancelled.size() == 1); // by the wheel's end
    signal.emit(cancellation_type::partial);
    REQUIRE(read.cancelled.size() == 2);
    CHECK(read.cancelled[1] == cancellation_type::partial);
    read.complete(asio::error::operation_aborted, 0);
    run_ready(io);
    CHECK(result.ec == asio::error::operation_aborted);
    signal.emit(cancellation_type::terminal);

    wheel.emplace(io); // the body of the first
    read.async_run(timeout(*wheel, 10ms, result.handler()));
    signal.emit(cancellation_type::terminal);
    CHECK(read.cancelled.size() == 2);
    read.complete({}, 1);
    run_ready(io);
    CHECK(result.times == 2);
}

TEST_CASE_TEMPLATE("emit_again_from_inside_the_emission_is_added", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    cancellation_signal signal;
    read_result result;
    r.read.on_cancel = [&](cancellation_type) {
        if (r.read.cancelled.size() == 1) signal.emit(cancellation_type::partial);
    };
    r.read.async_run(timeout(r.wheel, 10ms, bind_cancellation_slot(signal.slot(), result.handler())));
    SUBCASE("the user's") { signal.emit(cancellation_type::total); }
    SUBCASE("the timer's") { r.pass(20ms); }
    REQUIRE(r.read.cancelled.size() == 2);
    CHECK(r.read.cancelled[1] == cancellation_type::partial);
    r.read.complete({}, 1);
    r.run();
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("all_timers_cancelled_inside_an_emission_nothing_is_lost", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    cancellation_signal signal;
    read_result result;
    bool complete_at_once = false;
    SUBCASE("the operation completes at once") { complete_at_once = true; }
    SUBCASE("the operation is deaf") {}
    r.read.on_cancel = [&](cancellation_type) {
        if (r.read.cancelled.size() > 1) return;
        CHECK(r.wheel.cancel_all() == 1); // a turn to come cancels the operation, too
        if (complete_at_once) r.read.complete({}, 9);
    };
    r.read.async_run(timeout(r.wheel, 1h, bind_cancellation_slot(signal.slot(), result.handler())));
    asio::post(r.io, [&] {
        signal.emit(cancellation_type::partial);
        if (!complete_at_once) r.read.complete({}, 9);
    });
    r.run();
    CHECK(result.times == 1);
    CHECK(result.bytes == 9);
    CHECK(r.read.cancelled.size() == 1);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE("emit_while_the_operation_is_being_started_arrives_with_its_type") {
    timeout_rig<manual_timer_wheel> r;
    r.be_deaf();
    cancellation_signal signal;
    read_result result;
    r.read.on_start = [&] { signal.emit(cancellation_type::partial); };
    r.read.async_run(timeout(r.wheel, 1h, bind_cancellation_slot(signal.slot(), result.handler())));
    r.run();
    REQUIRE(r.read.cancelled.size() == 1);
    CHECK(r.read.cancelled[0] == cancellation_type::partial);
    r.read.complete({}, 1);
    r.run();
    CHECK(result.times == 1);
}
