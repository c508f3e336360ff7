// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What async_retry completes with, when, and how many attempts that took.
#include "support/resilience/retry_rig.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// How many calls are inside each other.
struct level {
    int& now;

    explicit level(int& depth) : now(++depth) {}
    ~level() { --now; }
};

} // namespace

TEST_CASE_TEMPLATE("retry_first_attempt_succeeds_no_timer_no_wait", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    r.start(doubling(), out.handler());
    CHECK(r.read.started == 1);
    CHECK(r.wheel.pending() == 0); // nothing limits it
    r.attempt_ends({}, 42);
    CHECK(out.times == 1);
    CHECK_FALSE(out.ec);
    CHECK(out.bytes == 42);
    CHECK(out.result.attempts == 1);
    CHECK(out.result.end == retry_end::succeeded);
    r.pass(1h);
    CHECK(out.times == 1);
    CHECK(r.read.started == 1);
}

TEST_CASE_TEMPLATE("retry_waits_in_between_and_succeeds_at_last", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    r.start(doubling(), out.handler());
    r.attempt_fails();
    CHECK(r.wheel.pending() == 1);
    r.pass(99ms);
    CHECK(r.read.started == 1);
    r.pass(11ms);
    CHECK(r.read.started == 2);
    CHECK(r.wheel.pending() == 0);
    r.attempt_fails();
    r.pass(190ms);
    CHECK(r.read.started == 2);
    r.pass(20ms);
    CHECK(r.read.started == 3);
    r.attempt_ends({}, 7);
    CHECK(out.times == 1);
    CHECK_FALSE(out.ec);
    CHECK(out.bytes == 7);
    CHECK(out.result.attempts == 3);
    CHECK_FALSE(out.result.last_error);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE_TEMPLATE("retry_attempts_used_the_last_error_and_its_results", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    r.start(doubling(2), out.handler());
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_ends(asio::error::eof, 5);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::eof);
    CHECK(out.bytes == 5);
    CHECK(out.result.attempts == 2);
    CHECK(out.result.end == retry_end::attempts_used);
    CHECK(out.result.last_error == asio::error::eof);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("retry_error_that_is_no_use_to_repeat_ends_it", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    std::error_code ec = asio::error::access_denied;
    SUBCASE("by default") {}
    SUBCASE("by the policy's predicate") {
        ec = asio::error::connection_reset;
        p.retryable = [](const std::error_code& e) { return e != asio::error::connection_reset; };
    }
    r.start(p, out.handler());
    r.attempt_ends(ec, 3);
    CHECK(out.ec == ec);
    CHECK(out.bytes == 3);
    CHECK(out.result.end == retry_end::not_retryable);
    CHECK(r.read.started == 1);
}

TEST_CASE_TEMPLATE("retry_attempt_that_takes_too_long_is_cancelled_and_made_again", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling(2);
    p.attempt_timeout = 50ms;
    r.start(p, out.handler());
    CHECK(r.wheel.pending() == 1);
    r.pass(60ms);
    CHECK(r.read.cancelled.size() == 1);
    CHECK(out.times == 0);
    r.pass(110ms);
    CHECK(r.read.started == 2);
    r.pass(60ms);
    CHECK(r.read.cancelled.size() == 2);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::timed_out);
    CHECK(out.result.attempts == 2);
    CHECK(out.result.last_error == asio::error::timed_out);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("retry_attempt_in_time_leaves_no_timer", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    p.attempt_timeout = 50ms;
    p.deadline = virtual_deadline::after(10s);
    r.start(p, out.handler());
    r.attempt_fails();
    CHECK(r.wheel.pending() == 1); // the wait
    r.pass(110ms);
    CHECK(r.wheel.pending() == 1); // the limit
    r.attempt_ends({}, 1);
    CHECK(r.wheel.pending() == 0);
    CHECK(r.read.cancelled.empty());
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("retry_deadline_cancels_the_attempt_that_runs", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    p.deadline = virtual_deadline::after(300ms);
    SUBCASE("alone") {}
    SUBCASE("sooner than the attempt's own limit") { p.attempt_timeout = 10s; }
    r.start(p, out.handler());
    r.attempt_fails();
    r.pass(110ms);
    CHECK(r.read.started == 2);
    r.pass(180ms);
    CHECK(out.times == 0);
    r.pass(20ms);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::timed_out);
    CHECK(out.result.attempts == 2);
    CHECK(out.result.end == retry_end::out_of_time);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("retry_wait_beyond_the_deadline_is_not_begun", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    p.deadline = virtual_deadline::after(80ms);
    r.start(p, out.handler());
    r.attempt_fails();
    CHECK(out.times == 1); // at once
    CHECK(out.ec == asio::error::connection_refused);
    CHECK(out.result.end == retry_end::out_of_time);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("retry_deadline_that_has_come_starts_nothing_and_completes_later", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    for (const auto limit : {0s, -1s}) {
        p.deadline = virtual_deadline::after(limit);
        out.times = 0;
        r.start(p, out.handler());
        CHECK(out.times == 0);
        r.run();
        CHECK(out.times == 1);
        CHECK(out.ec == asio::error::timed_out);
        CHECK(out.result.attempts == 0);
        CHECK(out.result.end == retry_end::out_of_time);
    }
    CHECK(r.read.started == 0);
}

TEST_CASE_TEMPLATE("retry_attempt_timeout_of_zero_or_less_times_out_at_once", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    for (const auto timeout : {0s, -1s}) {
        retry_outcome out;
        virtual_policy p = doubling(1);
        p.attempt_timeout = timeout;
        r.start(p, out.handler());
        CHECK(out.times == 0);
        r.run();
        CHECK(out.ec == asio::error::timed_out);
        CHECK(out.result.attempts == 1);
    }
    CHECK(r.read.started == 2);
}

TEST_CASE_TEMPLATE("retry_delay_of_zero_goes_on_without_time_and_without_recursion", Wheel, BOTH_WHEELS) {
    for (const ends how : {ends::posted, ends::inside}) {
        retry_rig<Wheel> r;
        retry_outcome out;
        virtual_policy p = doubling(2000);
        p.backoff = backoff::constant(0s);
        int starts = 0, depth = 0, deepest = 0;
        async_retry(
            r.wheel, p,
            [&](auto token) {
                const level inside(depth);
                ++starts;
                deepest = std::max(deepest, depth);
                return async_quick_read(r.io, how, asio::error::eof, 9, token);
            },
            out.handler());
        CHECK(out.times == 0);
        for (int i = 0; i < 5000 && out.times == 0; ++i) r.run();
        CHECK(out.times == 1);
        CHECK(starts == 2000);
        CHECK(deepest == 1);
        CHECK(out.bytes == 9);
        CHECK(out.result.attempts == 2000);
    }
}

TEST_CASE_TEMPLATE("retry_operation_over_before_it_returns_completes_later", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    SUBCASE("without a limit") {}
    SUBCASE("with a limit") { p.attempt_timeout = 1s; }
    async_retry(
        r.wheel, p, [&](auto token) { return async_quick_read(r.io, ends::inside, {}, 3, token); }, out.handler());
    CHECK(out.times == 0);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.bytes == 3);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("retry_attempt_knows_its_number_its_limit_and_the_error_before", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    p.attempt_timeout = 1s;
    std::vector<std::uint32_t> numbers;
    std::vector<std::error_code> errors;
    async_retry(r.wheel, p, virtual_reading{[&](virtual_attempt& attempt) -> scripted_read& {
                    numbers.push_back(attempt.number());
                    errors.push_back(attempt.last_error());
                    CHECK(attempt.deadline().remaining() == 1s);
                    return r.read;
                }},
                out.handler());
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_ends(asio::error::eof);
    r.pass(210ms);
    r.attempt_ends({});
    CHECK(numbers == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(errors == std::vector<std::error_code>{{}, asio::error::connection_refused, asio::error::eof});
}

TEST_CASE_TEMPLATE("retry_hint_of_the_peer_is_waited_for_and_the_backoff_on_top", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    virtual_attempt* running = nullptr;
    async_retry(r.wheel, doubling(), virtual_reading{[&](virtual_attempt& attempt) -> scripted_read& {
                    running = &attempt;
                    return r.read;
                }},
                out.handler());
    running->retry_after(5s); // as its answer says
    r.attempt_fails();
    r.pass(5090ms);
    CHECK(r.read.started == 1);
    r.pass(20ms);
    CHECK(r.read.started == 2);
    r.attempt_fails();
    r.pass(210ms);
    CHECK(r.read.started == 3);
    r.attempt_ends({});
    CHECK(out.times == 1);
}

TEST_CASE_TEMPLATE("retry_budget_shared_refuses_when_it_is_empty", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    scripted_read other(r.io.get_executor());
    retry_budget budget({.ratio = 0, .min_per_second = 0, .capacity = 1});
    virtual_policy p = doubling();
    p.budget = &budget;
    retry_outcome first, second;
    r.start(p, first.handler());
    async_retry(r.wheel, p, virtual_reading{[&](virtual_attempt&) -> scripted_read& { return other; }},
                second.handler());
    r.attempt_fails(); // takes the token
    other.complete(asio::error::connection_reset, 0);
    r.run();
    CHECK(second.times == 1);
    CHECK(second.ec == asio::error::connection_reset);
    CHECK(second.result.end == retry_end::budget);
    CHECK(second.result.attempts == 1);
    r.pass(110ms);
    r.attempt_ends({});
    CHECK(first.result.attempts == 2);
    CHECK(budget.stats().deposits == 2);
    CHECK(budget.stats().granted == 1);
    CHECK(budget.stats().refused == 1);
}

TEST_CASE("retry_jitter_draws_from_the_source_of_the_policy") {
    std::mt19937_64 random(11), same(11);
    retry_rig<manual_timer_wheel> r;
    retry_outcome out;
    virtual_policy p = doubling();
    p.backoff = p.backoff.jitter(backoff_jitter::full);
    p.random = random;
    const auto start = manual_clock::now();
    std::vector<manual_clock::time_point> starts;
    r.read.on_start = [&] { starts.push_back(manual_clock::now()); };
    r.start(p, out.handler());
    r.attempt_fails();
    while (r.read.started < 2) r.pass(1ms);
    const auto expected = p.backoff.next(1, 0s, same);
    CHECK(starts[1] - start >= expected);
    CHECK(starts[1] - start <= expected + 11ms); // a tick
    r.attempt_ends({});
}

TEST_CASE("retry_jitter_without_a_source_differs_between_retries_that_start_together") {
    // All on one clock reading: only what each seeds for itself can tell them apart.
    asio::io_context io;
    manual_timer_wheel wheel(io, {.tick = 1ms});
    virtual_policy p = doubling(2);
    p.backoff = backoff::constant(1s).jitter(backoff_jitter::full);
    std::vector<int> per_slice(10);
    const auto start = manual_clock::now();
    constexpr int clients = 400;
    for (int i = 0; i < clients; ++i)
        async_retry(
            wheel, p,
            [&](virtual_attempt& attempt, auto token) {
                if (attempt.number() == 2)
                    ++per_slice.at(static_cast<std::size_t>((manual_clock::now() - start) / 101ms));
                return async_quick_read(io, ends::posted, asio::error::eof, 0, token);
            },
            [](std::error_code, const retry_result&, std::size_t) {});
    run_ready(io);
    for (int i = 0; i < 200; ++i) pass(io, 10ms);
    int all = 0;
    for (const int n : per_slice) {
        CHECK(n > 10); // 40 on average: 5 standard deviations
        CHECK(n < 80);
        all += n;
    }
    CHECK(all == clients);
}

TEST_CASE("retry_policy_without_attempts_throws_and_starts_nothing") {
    retry_rig<manual_timer_wheel> r;
    retry_outcome out;
    CHECK_THROWS_AS(r.start(doubling(0), out.handler()), std::invalid_argument);
    r.run();
    CHECK(r.read.started == 0);
    CHECK(out.times == 0);
}
