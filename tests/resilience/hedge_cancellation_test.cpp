// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cancellation of a hedge: all its attempts, at any point.
#include "support/resilience/hedge_rig.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::bind_cancellation_slot;
using asio::cancellation_signal;
using asio::cancellation_type;

TEST_CASE_TEMPLATE("cancel_reaches_all_that_run_and_starts_no_other", Wheel, BOTH_WHEELS) {
    for (const auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        hedge_rig<Wheel> r;
        cancellation_signal signal;
        hedge_outcome out;
        r.start({.delay = 30ms, .attempts = 3}, bind_cancellation_slot(signal.slot(), out.handler()));
        r.pass(40ms);
        CHECK(r.wheel.pending() == 1);
        signal.emit(type);
        CHECK(r.wheel.pending() == 0);
        CHECK(r.reads[0].cancelled == std::vector<cancellation_type>{type});
        CHECK(r.reads[1].cancelled == std::vector<cancellation_type>{type});
        r.run();
        CHECK(out.times == 1);
        CHECK(out.ec == asio::error::operation_aborted);
        CHECK(out.result.attempts == 2);
        CHECK(out.result.winner == 0);
        r.pass(1h);
        CHECK(r.started == 2);
    }
}

TEST_CASE_TEMPLATE("cancel_unheeded_a_success_still_wins", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    r.be_deaf();
    cancellation_signal signal;
    hedge_outcome out;
    r.start({.delay = 30ms}, bind_cancellation_slot(signal.slot(), out.handler()));
    r.pass(40ms);
    signal.emit(cancellation_type::none); // says nothing
    CHECK(r.cancelled(1) == 0);
    signal.emit(cancellation_type::total);
    r.ends(1, asio::error::eof, 1);
    CHECK(out.times == 0);
    SUBCASE("success") {
        r.ends(2, {}, 2);
        CHECK_FALSE(out.ec);
        CHECK(out.bytes == 2);
    }
    SUBCASE("failure") {
        r.ends(2, asio::error::connection_reset, 2);
        CHECK(out.ec == asio::error::operation_aborted);
        CHECK(out.result.last_error == asio::error::connection_reset);
    }
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("cancel_completes_attempts_inside_the_emission_and_the_hedge_later", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    cancellation_signal signal;
    hedge_outcome out;
    for (auto& read : r.reads)
        read.on_cancel = [&read](cancellation_type) { read.complete_here(asio::error::operation_aborted, 0); };
    r.start({.delay = 30ms}, bind_cancellation_slot(signal.slot(), out.handler()));
    r.pass(40ms);
    SUBCASE("the user's") {
        signal.emit(cancellation_type::terminal);
        CHECK(out.times == 0);
        signal.emit(cancellation_type::terminal);
        r.run();
        CHECK(out.ec == asio::error::operation_aborted);
    }
    SUBCASE("the winner's") {
        r.ends(2, {}, 2);
        CHECK_FALSE(out.ec);
    }
    CHECK(out.times == 1);
    signal.emit(cancellation_type::terminal);
    CHECK(r.cancelled(1) == 1);
}

TEST_CASE_TEMPLATE("cancel_while_an_attempt_is_being_started_reaches_it", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    cancellation_signal signal;
    hedge_outcome out;
    std::size_t number = 0;
    SUBCASE("the first") { number = 1; }
    SUBCASE("the second") { number = 2; }
    r.reads[number - 1].on_start = [&] { signal.emit(cancellation_type::partial); };
    r.start({.delay = 30ms}, bind_cancellation_slot(signal.slot(), out.handler()));
    CHECK(out.times == 0);
    r.pass(40ms);
    CHECK(r.cancelled(number) == 1);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(out.result.attempts == number);
}

TEST_CASE_TEMPLATE("cancel_at_which_one_attempt_throws_reaches_the_others", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    cancellation_signal signal;
    hedge_outcome out;
    r.start({.delay = 30ms}, bind_cancellation_slot(signal.slot(), out.handler()));
    r.pass(40ms);
    r.reads[0].on_cancel = [](cancellation_type) { throw std::runtime_error("emission"); };
    CHECK_THROWS_AS(signal.emit(cancellation_type::terminal), std::runtime_error);
    CHECK(r.cancelled(2) == 1);
    r.run();
    CHECK(out.times == 0); // the first still runs
    r.ends(1, asio::error::eof, 1);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("cancel_signal_destroyed_meanwhile_the_hedge_goes_on", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    std::optional<cancellation_signal> signal(std::in_place);
    hedge_outcome out;
    r.start({.delay = 30ms}, bind_cancellation_slot(signal->slot(), out.handler()));
    signal.reset();
    r.pass(40ms);
    r.ends(2, {}, 1);
    CHECK(out.times == 1);
}

// The reference that an emission holds on to goes with the context that was to bring it.
TEST_CASE_TEMPLATE("cancel_context_of_the_handler_destroyed_before_it_runs_the_handler_goes_with_it", Wheel,
                   BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    cancellation_signal signal;
    hedge_outcome out;
    const auto life = std::make_shared<int>();
    for (auto& read : r.reads)
        read.on_cancel = [&read](cancellation_type) { read.complete_here(asio::error::operation_aborted, 0); };
    {
        asio::io_context other;
        r.start({.delay = 30ms},
                bind_cancellation_slot(signal.slot(), asio::bind_executor(other, noting_handler{&out, life})));
        signal.emit(cancellation_type::terminal);
        CHECK_FALSE(r.reads[0].pending());
        CHECK(life.use_count() == 2);
    }
    CHECK(life.use_count() == 1);
    CHECK(out.times == 0);
    CHECK(r.wheel.pending() == 0);
}

namespace {

/// Emits when it is destroyed.
struct emitting_result {
    cancellation_signal* signal;
    ~emitting_result() { signal->emit(cancellation_type::terminal); }
};

} // namespace

TEST_CASE_TEMPLATE("cancel_by_the_result_that_a_later_one_replaces", Wheel, BOTH_WHEELS) {
    using result = std::shared_ptr<emitting_result>;
    hedge_rig<Wheel> r;
    cancellation_signal signal;
    std::deque<scripted_operation<void(std::error_code, result)>> operations;
    for (int i = 0; i < 3; ++i) operations.emplace_back(r.io.get_executor());
    std::error_code end;
    int times = 0;
    async_hedge(
        r.wheel, {.delay = 30ms, .attempts = 3},
        [&](hedge_attempt& attempt, auto token) { return operations[attempt.number() - 1].async_run(token); },
        bind_cancellation_slot(signal.slot(), [&](std::error_code ec, const hedge_result&, const result&) {
            end = ec;
            ++times;
        }));
    r.pass(40ms);
    r.pass(40ms);
    operations[0].complete(asio::error::eof, std::make_shared<emitting_result>(&signal));
    r.run();
    CHECK(operations[1].cancelled.empty());
    operations[1].complete(asio::error::eof, nullptr);
    r.run();
    CHECK(operations[2].cancelled == std::vector{cancellation_type::terminal});
    operations[2].complete(asio::error::eof, nullptr);
    r.run();
    CHECK(times == 1);
    CHECK(end == asio::error::operation_aborted);
}
