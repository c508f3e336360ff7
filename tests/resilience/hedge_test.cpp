// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a hedge starts another attempt, which one wins, and that the others are cancelled and awaited.
#include "support/resilience/hedge_rig.hpp"

#include <cogwheel/asio/error.hpp>

#include <asio/bind_executor.hpp>
#include <asio/use_awaitable.hpp>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::cancellation_type;

TEST_CASE_TEMPLATE("hedge_first_attempt_in_time_is_the_only_one", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms}, out.handler());
    CHECK(r.wheel.pending() == 1);
    r.pass(20ms);
    r.ends(1, {}, 42);
    CHECK(out.times == 1);
    CHECK_FALSE(out.ec);
    CHECK(out.bytes == 42);
    CHECK(out.result.attempts == 1);
    CHECK(out.result.winner == 1);
    CHECK(r.wheel.pending() == 0);
    r.pass(1h);
    CHECK(r.started == 1);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE_TEMPLATE("hedge_second_attempt_after_the_delay_either_may_win", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms}, out.handler());
    r.pass(29ms);
    CHECK(r.started == 1);
    r.pass(11ms);
    CHECK(r.started == 2);
    CHECK(r.wheel.pending() == 0); // it is the last
    std::size_t winner = 0;
    SUBCASE("the first") { winner = 1; }
    SUBCASE("the second") { winner = 2; }
    r.ends(winner, {}, 10 + winner);
    CHECK(r.cancelled(3 - winner) == 1);
    CHECK(r.reads[2 - winner].cancelled[0] == cancellation_type::terminal);
    CHECK(out.times == 1);
    CHECK_FALSE(out.ec);
    CHECK(out.bytes == 10 + winner);
    CHECK(out.result.attempts == 2);
    CHECK(out.result.winner == winner);
    CHECK(r.cancelled(winner) == 0);
}

TEST_CASE_TEMPLATE("hedge_loser_is_awaited_before_the_handler_runs", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    r.be_deaf();
    hedge_outcome out;
    r.start({.delay = 30ms}, out.handler());
    r.pass(40ms);
    r.ends(2, {}, 7);
    CHECK(r.cancelled(1) == 1);
    CHECK(out.times == 0);
    SUBCASE("it fails") { r.ends(1, asio::error::eof, 5); }
    SUBCASE("it succeeds, too late") { r.ends(1, {}, 5); }
    CHECK(out.times == 1);
    CHECK_FALSE(out.ec);
    CHECK(out.bytes == 7);
    CHECK(out.result.winner == 2);
    CHECK_FALSE(out.result.last_error);
}

TEST_CASE_TEMPLATE("hedge_attempt_fails_before_the_delay_the_next_starts_at_once", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms, .attempts = 3}, out.handler());
    r.ends(1, asio::error::eof);
    CHECK(r.started == 2);
    CHECK(out.times == 0);
    r.pass(25ms);
    CHECK(r.started == 2); // its delay counts anew
    r.pass(15ms);
    CHECK(r.started == 3);
    r.ends(2, asio::error::connection_reset);
    CHECK(out.times == 0); // the third still runs
    r.ends(3, {}, 3);
    CHECK(out.times == 1);
    CHECK(out.result.winner == 3);
    CHECK(out.result.attempts == 3);
}

TEST_CASE_TEMPLATE("hedge_failure_that_is_not_retryable_starts_no_other", Wheel, BOTH_WHEELS) {
    const auto all_but_eof = [](const std::error_code& ec) { return ec != asio::error::eof; };
    const std::pair<std::error_code, std::function<bool(const std::error_code&)>> scripts[] = {
        {asio::error::access_denied, {}}, // does not pass by itself
        {errc::circuit_open, {}},
        {errc::stopped, any_error}, // is not asked: the wheel takes no timer
        {asio::error::eof, all_but_eof},
    };
    for (const auto& [failure, retryable] : scripts)
        for (const bool other_wins : {false, true}) {
            CAPTURE(failure.message());
            hedge_rig<Wheel> r;
            hedge_outcome out;
            r.start({.delay = 30ms, .attempts = 3, .retryable = retryable}, out.handler());
            if (other_wins) r.pass(40ms);
            r.ends(1, failure);
            CHECK(r.wheel.pending() == 0);
            r.pass(1h);
            CHECK(r.started == (other_wins ? 2 : 1));
            if (other_wins) r.ends(2, {}, 2);
            CHECK(out.times == 1);
            CHECK(out.result.winner == (other_wins ? 2 : 0));
            CHECK(out.ec == (other_wins ? std::error_code() : failure));
        }
}

TEST_CASE_TEMPLATE("hedge_predicate_that_throws_starts_no_other_and_leaves_run", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms,
             .attempts = 3,
             .retryable = [](const std::error_code&) -> bool { throw std::logic_error("p"); }},
            out.handler());
    r.pass(40ms);
    CHECK_THROWS_AS(r.ends(1, asio::error::eof), std::logic_error);
    r.pass(1h);
    CHECK(r.started == 2);
    r.ends(2, {}, 2);
    CHECK(out.times == 1);
    CHECK(out.bytes == 2);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("hedge_predicate_of_results_a_result_may_be_worth_another_attempt", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    int asked = 0;
    const auto busy = [&](const std::error_code& ec, const std::size_t& n) {
        ++asked;
        return !ec && n == 503;
    };
    async_hedge(r.wheel, {.delay = 30ms, .attempts = 3, .retryable = any_error}, r.operation(), busy, out.handler());
    r.ends(1, {}, 503);
    CHECK(r.started == 2); // at once
    CHECK(out.times == 0);
    SUBCASE("the next one wins") {
        r.ends(2, {}, 200);
        CHECK(out.bytes == 200);
        CHECK(out.result.winner == 2);
        CHECK(asked == 2);
    }
    SUBCASE("all are the same: the last one's") {
        r.ends(2, {}, 503);
        r.ends(3, {}, 503);
        CHECK_FALSE(out.ec);
        CHECK(out.bytes == 503);
        CHECK(out.result.winner == 0);
        CHECK(out.result.attempts == 3);
    }
    SUBCASE("then a failure that this predicate does not allow for, although the options would") {
        r.ends(2, asio::error::eof);
        CHECK(out.ec == asio::error::eof);
        CHECK(r.started == 2);
    }
    CHECK(out.times == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("hedge_predicate_is_not_asked_of_attempts_that_are_too_late_and_a_member_of_that_name_is_none") {
    hedge_rig<manual_timer_wheel> r;
    hedge_outcome out;
    int asked = 0;
    r.start({.delay = 30ms, .retryable = [&](const std::error_code&) { return ++asked, true; }}, out.handler());
    r.pass(40ms);
    r.ends(1, {}, 1); // the other one is cancelled
    CHECK(out.times == 1);
    CHECK(asked == 0);
    struct reading_again : hedge_reading {
        int retryable = 3;
    };
    async_hedge(r.wheel, 30ms, reading_again{{r.operation()}}, out.handler());
    r.ends(1, {}, 1);
    CHECK(out.times == 2);
}

TEST_CASE("hedge_predicate_of_results_of_coroutines") {
    hedge_rig<manual_timer_wheel> r;
    std::string won;
    async_hedge(
        r.wheel, {.delay = 1h},
        [](hedge_attempt& attempt) -> asio::awaitable<std::string> {
            co_return attempt.number() == 1 ? "busy" : "answer";
        },
        [](const std::error_code&, const std::string& s) { return s == "busy"; },
        [&](const std::exception_ptr&, const hedge_result&, const std::string& s) { won = s; });
    r.run();
    CHECK(won == "answer");
}

TEST_CASE_TEMPLATE("hedge_all_fail_the_last_error_with_its_results", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms, .attempts = 2}, out.handler());
    r.pass(40ms);
    r.ends(2, asio::error::connection_refused, 2);
    CHECK(out.times == 0);
    r.ends(1, asio::error::eof, 1);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::eof);
    CHECK(out.bytes == 1);
    CHECK(out.result.attempts == 2);
    CHECK(out.result.winner == 0);
    CHECK(out.result.last_error == asio::error::eof);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("hedge_of_one_attempt_needs_no_timer", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms, .attempts = 1}, out.handler());
    CHECK(r.wheel.pending() == 0);
    r.ends(1, asio::error::eof, 1);
    CHECK(out.ec == asio::error::eof);
}

TEST_CASE_TEMPLATE("hedge_delay_of_zero_or_less_starts_all_in_the_next_turns", Wheel, BOTH_WHEELS) {
    for (const auto delay : {0ns, -5ns}) {
        hedge_rig<Wheel> r;
        hedge_outcome out;
        r.start({.delay = delay, .attempts = 4}, out.handler());
        CHECK(r.started == 1);
        for (int i = 0; i < 4; ++i) r.run();
        CHECK(r.started == 4);
        r.ends(3, {}, 3);
        CHECK(out.times == 1);
        CHECK(r.cancelled(1) + r.cancelled(2) + r.cancelled(4) == 3);
    }
}

TEST_CASE("hedge_by_a_delay_alone_makes_two_attempts") {
    hedge_rig<manual_timer_wheel> r;
    hedge_outcome out;
    async_hedge(r.wheel, 30ms, r.operation(), out.handler());
    for (int i = 0; i < 5; ++i) r.pass(40ms);
    CHECK(r.started == 2);
    r.ends(1, {}, 1);
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("hedge_budget_pays_for_all_but_the_first", Wheel, BOTH_WHEELS) {
    retry_budget budget({.ratio = 0, .min_per_second = 0, .capacity = 1});
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms, .attempts = 4, .budget = &budget}, out.handler());
    r.pass(40ms);
    CHECK(r.started == 2);
    r.pass(40ms);
    CHECK(r.started == 2);
    CHECK(r.wheel.pending() == 0); // refused for good
    r.ends(1, asio::error::eof);
    CHECK(out.times == 0);
    r.ends(2, asio::error::connection_reset);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::connection_reset);
    CHECK(budget.stats().deposits == 1);
    CHECK(budget.stats().granted == 1);
    CHECK(budget.stats().refused == 1);
}

TEST_CASE_TEMPLATE("hedge_wheel_takes_no_timer_the_next_starts_when_one_fails", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    r.wheel.stop();
    hedge_outcome out;
    r.start({.delay = 30ms}, out.handler());
    r.pass(1h);
    CHECK(r.started == 1);
    r.ends(1, asio::error::eof);
    CHECK(r.started == 2);
    r.ends(2, {}, 2);
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("hedge_timers_cancelled_or_wheel_gone_it_goes_on_without", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    std::optional<Wheel> wheel(std::in_place, io);
    scripted_read read(io.get_executor());
    hedge_outcome out;
    async_hedge(*wheel, 30ms, hedge_reading{[&](hedge_attempt&) -> scripted_read& { return read; }}, out.handler());
    SUBCASE("timers cancelled") { wheel->cancel_all(); }
    SUBCASE("wheel gone") { wheel.reset(); }
    pass(io, 1h);
    CHECK(read.started == 1);
    read.complete({}, 6);
    run_ready(io);
    CHECK(out.times == 1);
    CHECK(out.bytes == 6);
}

TEST_CASE("hedge_with_a_limit_by_timeout_after") {
    hedge_rig<manual_timer_wheel> r;
    hedge_outcome out;
    r.start({.delay = 30ms}, timeout(r.wheel, 100ms, out.handler()));
    r.pass(40ms);
    r.pass(80ms);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::timed_out);
    CHECK(r.cancelled(1) == 1);
    CHECK(r.cancelled(2) == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("hedge_of_coroutines") {
    hedge_rig<manual_timer_wheel> r;
    bool done = false;
    asio::co_spawn(
        r.io,
        [&]() -> asio::awaitable<void> {
            const auto [result, text] = co_await async_hedge(
                r.wheel, 30ms,
                [&](hedge_attempt& attempt) -> asio::awaitable<std::string> {
                    const std::uint32_t number = attempt.number();
                    co_await r.wheel.async_wait(number == 1 ? 1h : 20ms, asio::use_awaitable);
                    co_return std::to_string(number);
                },
                asio::use_awaitable);
            CHECK(text == "2");
            CHECK(result.winner == 2);
            done = true;
        },
        [](const std::exception_ptr& e) { CHECK_FALSE(e); });
    r.run();
    r.pass(40ms);
    CHECK(r.wheel.pending() == 2);
    r.pass(30ms);
    CHECK(done);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("hedge_timer_that_is_on_its_way_when_an_attempt_fails_starts_nothing_more") {
    hedge_rig<manual_timer_wheel> r;
    asio::io_context other;
    hedge_outcome out;
    r.start({.delay = 30ms, .attempts = 3}, asio::bind_executor(other, out.handler()));
    r.reads[0].complete(asio::error::eof, 0);
    r.pass(40ms); // the timer's callable is queued behind it
    run_ready(other);
    CHECK(r.started == 2);
    r.pass(40ms);
    run_ready(other);
    CHECK(r.started == 3);
    r.reads[1].complete({}, 1);
    run_ready(other);
    CHECK(out.times == 1);
    CHECK(out.result.attempts == 3);
}

TEST_CASE("hedge_bad_options_name_value_range_and_remedy") {
    hedge_rig<manual_timer_wheel> r;
    hedge_outcome out;
    for (const std::uint32_t bad : {0u, 17u, ~0u}) {
        std::string what;
        try {
            r.start({.delay = 30ms, .attempts = bad}, out.handler());
        } catch (const std::invalid_argument& e) {
            what = e.what();
        }
        CHECK(what.find("attempts is " + std::to_string(bad) + ", but must be 1 .. 16") != std::string::npos);
    }
    r.run();
    CHECK(r.started == 0);
    CHECK(out.times == 0);
}
