// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cancellation of a retry at any point: waiting, attempting, starting, between two steps, and when it is over.
#include "support/resilience/retry_rig.hpp"

#include <cogwheel/resilience/hedge.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/use_awaitable.hpp>

#include <optional>
#include <stdexcept>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::bind_cancellation_slot;
using asio::cancellation_signal;
using asio::cancellation_type;

namespace {
constexpr cancellation_type each_type[] = {cancellation_type::terminal, cancellation_type::partial,
                                           cancellation_type::total, cancellation_type::all};
}

TEST_CASE_TEMPLATE("cancel_while_waiting_ends_the_wait_at_once", Wheel, BOTH_WHEELS) {
    for (const auto type : each_type) {
        retry_rig<Wheel> r;
        cancellation_signal signal;
        retry_outcome out;
        r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
        r.attempt_fails();
        CHECK(r.wheel.pending() == 1);
        signal.emit(type);
        CHECK(r.wheel.pending() == 0);
        CHECK(out.times == 0);
        r.run();
        CHECK(out.times == 1);
        CHECK(out.ec == asio::error::operation_aborted);
        CHECK(out.result.attempts == 1);
        CHECK(out.result.end == retry_end::cancelled);
        CHECK(out.result.last_error == asio::error::connection_refused);
        r.pass(1h);
        CHECK(r.read.started == 1);
    }
}

TEST_CASE_TEMPLATE("cancel_while_attempting_is_passed_on_with_its_type", Wheel, BOTH_WHEELS) {
    for (const auto type : each_type) {
        for (const bool limited : {false, true}) {
            CAPTURE(limited);
            retry_rig<Wheel> r;
            cancellation_signal signal;
            retry_outcome out;
            virtual_policy p = doubling();
            if (limited) p.attempt_timeout = 1h;
            r.start(p, bind_cancellation_slot(signal.slot(), out.handler()));
            r.attempt_fails();
            r.pass(110ms);
            signal.emit(type);
            REQUIRE(r.read.cancelled.size() == 1);
            CHECK(r.read.cancelled[0] == type);
            r.run();
            CHECK(out.times == 1);
            CHECK(out.ec == asio::error::operation_aborted);
            CHECK(out.result.attempts == 2);
            CHECK(out.result.end == retry_end::cancelled);
            CHECK(r.wheel.pending() == 0);
            r.pass(1h);
            CHECK(r.read.started == 2);
        }
    }
}

TEST_CASE_TEMPLATE("cancel_of_no_type_changes_nothing", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    signal.emit(cancellation_type::none);
    CHECK(r.read.cancelled.empty());
    r.attempt_fails();
    signal.emit(cancellation_type::none);
    r.pass(110ms);
    r.attempt_ends({}, 1);
    CHECK_FALSE(out.ec);
}

TEST_CASE_TEMPLATE("cancel_unheeded_the_attempt_ends_as_it_likes_and_is_the_last", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    r.be_deaf();
    cancellation_signal signal;
    retry_outcome out;
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    signal.emit(cancellation_type::total);
    signal.emit(cancellation_type::terminal);
    CHECK(r.read.cancelled.size() == 2); // each is passed on
    SUBCASE("it succeeds") {
        r.attempt_ends({}, 8);
        CHECK_FALSE(out.ec);
        CHECK(out.result.end == retry_end::succeeded);
    }
    SUBCASE("it fails") {
        r.attempt_ends(asio::error::connection_reset, 8);
        CHECK(out.ec == asio::error::operation_aborted);
        CHECK(out.result.end == retry_end::cancelled);
        CHECK(out.result.last_error == asio::error::connection_reset);
    }
    CHECK(out.bytes == 8);
    CHECK(out.times == 1);
    r.pass(1h);
    CHECK(r.read.started == 1);
}

TEST_CASE_TEMPLATE("cancel_inside_an_emission_is_passed_on_after_it", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    int depth = 0;
    r.read.on_cancel = [&](cancellation_type type) {
        CHECK(++depth == 1);
        if (type == cancellation_type::partial) signal.emit(cancellation_type::terminal);
        --depth;
    };
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    signal.emit(cancellation_type::partial);
    CHECK(r.read.cancelled == std::vector{cancellation_type::partial, cancellation_type::terminal});
    r.attempt_fails();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("cancel_just_before_the_wait_expires_makes_no_further_attempt", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    r.attempt_fails();
    asio::post(r.io, [&] { signal.emit(cancellation_type::terminal); });
    r.pass(110ms); // the turn is posted behind it
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(r.read.started == 1);
}

TEST_CASE_TEMPLATE("cancel_while_an_attempt_is_being_started_reaches_it", Wheel, BOTH_WHEELS) {
    for (const int attempt : {1, 2}) {
        CAPTURE(attempt);
        retry_rig<Wheel> r;
        cancellation_signal signal;
        retry_outcome out;
        r.read.on_start = [&] {
            if (r.read.started == attempt) signal.emit(cancellation_type::partial);
        };
        r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
        if (attempt == 2) {
            r.attempt_fails();
            r.pass(110ms);
        }
        CHECK(r.read.cancelled == std::vector<cancellation_type>{cancellation_type::partial});
        r.run();
        CHECK(out.times == 1);
        CHECK(out.ec == asio::error::operation_aborted);
        CHECK(static_cast<int>(out.result.attempts) == attempt);
    }
}

TEST_CASE_TEMPLATE("cancel_completes_the_attempt_inside_the_emission_and_the_retry_later", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    r.read.on_cancel = [&](cancellation_type) { r.read.complete_here(asio::error::operation_aborted, 4); };
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    signal.emit(cancellation_type::terminal);
    CHECK(out.times == 0);
    signal.emit(cancellation_type::terminal); // nothing is under way any more
    CHECK(r.read.cancelled.size() == 1);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(out.bytes == 4);
}

TEST_CASE_TEMPLATE("cancel_again_from_inside_the_emission_is_added", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    r.read.on_cancel = [&](cancellation_type) {
        if (r.read.cancelled.size() == 1) signal.emit(cancellation_type::terminal);
    };
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    signal.emit(cancellation_type::total);
    CHECK(r.read.cancelled == std::vector<cancellation_type>{cancellation_type::total, cancellation_type::terminal});
    r.attempt_ends({}, 1);
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("cancel_whose_handler_throws_leaves_the_attempt_running", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    r.read.on_cancel = [](cancellation_type) { throw std::runtime_error("emission"); };
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    CHECK_THROWS_AS(signal.emit(cancellation_type::terminal), std::runtime_error);
    r.attempt_ends(asio::error::eof, 2);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(out.bytes == 2);
}

TEST_CASE_TEMPLATE("own_error_completion_is_harmless", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out, second;
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    r.attempt_ends({}, 1);
    // This one gets the memory of the first.
    cancellation_signal other;
    r.start(doubling(), bind_cancellation_slot(other.slot(), second.handler()));
    signal.emit(cancellation_type::terminal);
    CHECK(r.read.cancelled.empty());
    other.emit(cancellation_type::terminal);
    CHECK(r.read.cancelled.size() == 1);
    r.run();
    CHECK(out.times == 1);
    CHECK(second.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("cancel_does_not_reach_an_operation_of_an_earlier_attempt", Wheel, BOTH_WHEELS) {
    // The second attempt is no operation that can be cancelled: it leaves the slot as it finds it.
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    async_retry(
        r.wheel, doubling(),
        [&](virtual_attempt& attempt, auto token) {
            return asio::async_initiate<decltype(token), void(std::error_code, std::size_t)>(
                [&r, n = attempt.number()](auto handler) {
                    if (n == 1) return r.read.async_run(std::move(handler));
                    asio::post(r.io, [h = std::move(handler)]() mutable { std::move(h)(asio::error::eof, 0u); });
                },
                token);
        },
        bind_cancellation_slot(signal.slot(), out.handler()));
    r.attempt_fails();
    manual_clock::advance(110ms);
    r.io.restart();
    r.io.run_one(); // the turn: the second attempt is under way
    signal.emit(cancellation_type::terminal);
    CHECK(r.read.cancelled.empty());
    r.run();
    CHECK(out.times == 1);
    CHECK(out.result.attempts == 2);
    CHECK(out.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("cancel_signal_destroyed_meanwhile_the_retry_goes_on", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    std::optional<cancellation_signal> signal(std::in_place);
    retry_outcome out;
    r.start(doubling(), bind_cancellation_slot(signal->slot(), out.handler()));
    SUBCASE("while attempting") {
        signal.reset();
        r.attempt_fails();
    }
    SUBCASE("while waiting") {
        r.attempt_fails();
        signal.reset();
    }
    r.pass(110ms);
    r.attempt_ends({}, 1);
    CHECK(out.times == 1);
    CHECK_FALSE(out.ec);
}

TEST_CASE_TEMPLATE("cancel_slot_taken_by_another_operation_does_not_reach_the_first", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    scripted_read other(r.io.get_executor());
    cancellation_signal signal;
    retry_outcome out;
    read_result second;
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    other.async_run(bind_cancellation_slot(signal.slot(), second.handler()));
    signal.emit(cancellation_type::terminal);
    CHECK(r.read.cancelled.empty());
    CHECK(other.cancelled.size() == 1);
    other.drop();
    r.attempt_ends({}, 1);
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("cancel_of_a_retry_that_has_not_begun_has_no_effect", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    cancellation_signal signal;
    retry_outcome out;
    signal.emit(cancellation_type::terminal);
    r.start(doubling(), bind_cancellation_slot(signal.slot(), out.handler()));
    r.attempt_ends({}, 1);
    CHECK_FALSE(out.ec);
}

TEST_CASE_TEMPLATE("cancelled_when_an_attempt_ended_in_its_initiating_function_goes_on_once", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    asio::cancellation_signal signal;
    r.read.on_start = [&] { r.read.complete_here(asio::error::eof, 0); };
    r.start(doubling(), asio::bind_cancellation_slot(signal.slot(), out.handler()));
    signal.emit(asio::cancellation_type::terminal); // what follows is posted
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(r.read.started == 1);
    r.pass(1h);
    CHECK(out.times == 1);
}

TEST_CASE("retry_cancelled_by_any_type_its_coroutine_hears_of_it") {
    for (const auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        retry_rig<manual_timer_wheel> r;
        asio::cancellation_signal retry, hedge;
        std::vector<std::exception_ptr> ended;
        const auto attempt = [&]() -> asio::awaitable<void> { co_await r.wheel.async_wait(1h, asio::use_awaitable); };
        const auto note = [&](const std::exception_ptr& e, const auto&) { ended.push_back(e); };
        async_retry(r.wheel, doubling(), attempt, asio::bind_cancellation_slot(retry.slot(), note));
        async_hedge(r.wheel, 2h, attempt, asio::bind_cancellation_slot(hedge.slot(), note));
        r.run();
        retry.emit(type);
        hedge.emit(type);
        r.run();
        REQUIRE(ended.size() == 2);
        for (const auto& e : ended) CHECK(detail::code_of(e) == asio::error::operation_aborted);
    }
}
