// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who comes first, the operation or its limit, decides what the handler is told; it is told exactly once.
#include "support/asio/scripted_operation.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("operation_first_results_untouched_timer_gone_at_once", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    SUBCASE("a duration") { r.read.async_run(timeout(r.wheel, 10ms, result.handler())); }
    SUBCASE("a point") { r.read.async_run(timeout(r.wheel, manual_clock::now() + 10ms, result.handler())); }
    SUBCASE("a duration, its own error") {
        r.read.async_run(timeout(r.wheel, 10ms, {.own_error = true}, result.handler()));
    }
    SUBCASE("a point, its own error") {
        r.read.async_run(timeout(r.wheel, manual_clock::now() + 10ms, {.own_error = true}, result.handler()));
    }
    CHECK(r.wheel.pending() == 1);
    CHECK(result.times == 0);
    r.run();
    CHECK(result.times == 0);
    r.read.complete({}, 42);
    r.run();
    CHECK(result.times == 1);
    CHECK_FALSE(result.ec);
    CHECK(result.bytes == 42);
    CHECK(r.wheel.pending() == 0);
    r.pass(1h);
    CHECK(result.times == 1);
    CHECK(r.read.cancelled.empty());
    CHECK(r.wheel.stats().cancelled == 1);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE_TEMPLATE("timer_first_the_operation_is_cancelled_and_says_so", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    std::error_code expected = asio::error::timed_out;
    SUBCASE("a duration") { r.read.async_run(timeout(r.wheel, 10ms, result.handler())); }
    SUBCASE("a point") { r.read.async_run(timeout(r.wheel, manual_clock::now() + 10ms, result.handler())); }
    SUBCASE("a duration, its own error") {
        expected = asio::error::operation_aborted;
        r.read.async_run(timeout(r.wheel, 10ms, {.own_error = true}, result.handler()));
    }
    SUBCASE("a point, its own error") {
        expected = asio::error::operation_aborted;
        r.read.async_run(timeout(r.wheel, manual_clock::now() + 10ms, {.own_error = true}, result.handler()));
    }
    r.pass(9ms);
    CHECK(result.times == 0);
    r.pass(11ms); // a tick of grace
    CHECK(result.times == 1);
    CHECK(result.ec == expected);
    REQUIRE(r.read.cancelled.size() == 1);
    CHECK(r.read.cancelled[0] == asio::cancellation_type::terminal);
    CHECK(r.wheel.pending() == 0);
    CHECK(r.wheel.stats().fired == 1);
    r.pass(1h);
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("timer_first_emits_the_type_it_was_given", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    const auto total = asio::cancellation_type::total, partial = asio::cancellation_type::partial;
    const timeout_options timed_out{.type = total | partial}, own{.type = total | partial, .own_error = true};
    SUBCASE("a duration") { r.read.async_run(timeout(r.wheel, 10ms, timed_out, result.handler())); }
    SUBCASE("a point") { r.read.async_run(timeout(r.wheel, manual_clock::now(), timed_out, result.handler())); }
    SUBCASE("its own error") { r.read.async_run(timeout(r.wheel, 10ms, own, result.handler())); }
    SUBCASE("its own error, the token later") { r.read.async_run(timeout(r.wheel, 10ms, own)(result.handler())); }
    SUBCASE("a point, the token later") {
        r.read.async_run(timeout(r.wheel, manual_clock::now(), timed_out)(result.handler()));
    }
    r.pass(20ms);
    REQUIRE(r.read.cancelled.size() == 1);
    CHECK(r.read.cancelled[0] == (total | partial));
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("limit_of_zero_or_less_still_starts_and_never_completes_inline", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    for (const std::chrono::nanoseconds delay : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        result.times = 0;
        r.read.async_run(timeout(r.wheel, delay, result.handler()));
        CHECK(result.times == 0);
        r.run();
        CHECK(result.times == 1);
        CHECK(result.ec == asio::error::timed_out);
    }
    CHECK(r.read.started == 3);
}

TEST_CASE_TEMPLATE("limit_beyond_all_clocks_never_fires", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    r.read.async_run(timeout(r.wheel, std::chrono::hours::max(), result.handler()));
    r.pass(1000h);
    CHECK(r.wheel.pending() == 1);
    r.read.complete({}, 1);
    r.run();
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("operation_done_before_the_turn_of_its_expiry_wins", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, result.handler()));
    asio::post(r.io, [&] { r.read.complete({}, 7); });
    r.pass(10ms); // the turn is posted behind it
    CHECK(result.times == 1);
    CHECK(result.bytes == 7);
    CHECK(r.wheel.stats().fired == 0);
}

TEST_CASE_TEMPLATE("operation_done_after_its_expiry_data_is_not_lost", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    r.be_deaf();
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, result.handler()));
    r.pass(20ms);
    CHECK(r.read.cancelled.size() == 1);
    CHECK(result.times == 0);
    SUBCASE("success") {
        r.read.complete({}, 7);
        r.run();
        CHECK_FALSE(result.ec);
    }
    SUBCASE("another error") {
        r.read.complete(asio::error::eof, 7);
        r.run();
        CHECK(result.ec == asio::error::eof);
    }
    SUBCASE("aborted at last, with a part of the data") {
        r.read.complete(asio::error::operation_aborted, 7);
        r.run();
        CHECK(result.ec == asio::error::timed_out);
    }
    CHECK(result.bytes == 7);
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("operation_completes_inside_its_cancellation_once_and_not_inline", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    int inside = 0;
    r.read.on_cancel = [&](asio::cancellation_type) {
        r.read.complete({}, 5); // dispatch: we are on its executor
        inside = result.times;
    };
    r.read.async_run(timeout(r.wheel, 10ms, result.handler()));
    r.pass(20ms);
    CHECK(inside == 0);
    CHECK(result.times == 1);
    CHECK(result.bytes == 5);
    CHECK_FALSE(result.ec);
}

TEST_CASE_TEMPLATE("error_that_was_there_before_the_timer_stays", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, result.handler()));
    r.read.complete(asio::error::operation_aborted, 0); // by somebody else, in time
    r.run();
    CHECK(result.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("handler_move_only_and_it_may_start_the_next_operation", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    int rounds = 0;
    struct again {
        timeout_rig<Wheel>& r;
        std::unique_ptr<int> left;
        int& rounds;
        void operator()(std::error_code ec, std::size_t) {
            CHECK(ec == asio::error::timed_out);
            ++rounds;
            if (--*left > 0) r.read.async_run(timeout(r.wheel, 10ms, std::move(*this)));
        }
    };
    r.read.async_run(timeout(r.wheel, 10ms, again{r, std::make_unique<int>(5), rounds}));
    for (int i = 0; i < 10; ++i) r.pass(10ms);
    CHECK(rounds == 5);
    CHECK(r.wheel.pending() == 0);
}
