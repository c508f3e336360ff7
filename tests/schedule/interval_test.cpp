// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An interval on a wheel: ticks, their end, cancellation, lifetimes, and what waits meanwhile.
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/detail/platform.hpp>
#include <cogwheel/schedule/interval.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using ticking = interval<testing::manual_timer_wheel>;
using point = ticking::time_point;
using io_executor = asio::io_context::executor_type;
static_assert(std::same_as<interval<>::rebind_executor<io_executor>::other::executor_type, io_executor>);

struct tick_log {
    std::vector<std::error_code> errors;
    std::vector<point> due;

    auto note() {
        return [this](std::error_code ec, point at) {
            errors.push_back(ec);
            due.push_back(at);
        };
    }
};

std::string refusal_of_interval(const interval_options& options) {
    virtual_wheel at;
    try {
        const ticking every(at.wheel, options);
        return {};
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

// Checks that the pending tick is due at `first` and not before, and the next one 100 ms later.
void ticks_at(point first, virtual_wheel& at, ticking& every, tick_log& log) {
    at.pass(first - manual_clock::now() - 10ms);
    CHECK(log.due.empty());
    at.pass(10ms);
    every.async_tick(log.note());
    at.pass(100ms);
    CHECK(log.due == std::vector{first, first + 100ms});
}

} // namespace

TEST_CASE("interval_ticks_every_period_and_says_when_each_was_due") {
    virtual_wheel at({.tick = 10ms});
    ticking every(at.wheel, {.period = 25ms});
    const point start = manual_clock::now();
    std::vector<point> due;
    asio::co_spawn(
        at.io,
        [&]() -> asio::awaitable<void> {
            for (int i = 0; i < 4; ++i) due.push_back(co_await every.async_tick(asio::use_awaitable));
        },
        asio::detached);
    at.run();
    for (int i = 0; i < 12; ++i) at.pass(10ms);
    CHECK(due == std::vector<point>{start + 25ms, start + 50ms, start + 75ms, start + 100ms});
    CHECK(every.count() == 4);
    CHECK(at.wheel.pending() == 0); // nobody awaits the fifth
}

TEST_CASE("interval_a_hundred_thousand_periods_on_a_wheel_are_as_many_ticks") {
    const std::int64_t periods = COGWHEEL_WINDOWS ? 10'000 : 100'000; // there, each takes calls of the system
    virtual_wheel at({.tick = 10ms});
    ticking every(at.wheel, {.period = 10ms});
    const point start = manual_clock::now();
    std::int64_t ticks = 0, wrong = 0;
    std::function<void(std::error_code, point)> again = [&](std::error_code ec, point due) {
        ++ticks;
        if (ec || due != start + ticks * 10ms || due != manual_clock::now()) ++wrong;
        every.async_tick([&](std::error_code e, point p) { again(e, p); });
    };
    every.async_tick([&](std::error_code e, point p) { again(e, p); });
    for (std::int64_t i = 0; i < periods; ++i) at.pass(10ms);
    CHECK(ticks == periods);
    CHECK(wrong == 0);
    CHECK(every.missed() == 0);
    every.cancel();
    at.run();
}

TEST_CASE("interval_blocked_loop_skips_and_counts") {
    virtual_wheel at({.tick = 10ms});
    ticking every(at.wheel, {.period = 100ms});
    const point start = manual_clock::now();
    tick_log log;
    every.async_tick(log.note());
    at.pass(1050ms); // the loop was blocked
    every.async_tick(log.note());
    at.run();
    CHECK(log.due.size() == 1);
    at.pass(50ms);
    CHECK(log.due == std::vector<point>{start + 100ms, start + 1100ms});
    CHECK(every.missed() == 9);
}

TEST_CASE("interval_ends_with_eof_not_inline") {
    virtual_wheel at;
    ticking every(at.wheel, {.period = 100ms, .times = 1});
    tick_log log;
    every.async_tick(log.note());
    at.pass(100ms);
    every.async_tick(log.note());
    CHECK(log.errors.size() == 1);
    at.run();
    CHECK(log.errors == std::vector<std::error_code>{{}, asio::error::eof});

    ticking until(at.wheel, {.period = 100ms}, manual_clock::now() + 50ms);
    until.async_tick(log.note());
    at.run();
    CHECK(log.errors.back() == asio::error::eof);
    CHECK(at.wheel.pending() == 0);
}

TEST_CASE("interval_a_second_tick_at_once_is_refused_and_the_first_goes_on") {
    virtual_wheel at;
    ticking every(at.wheel, {.period = 100ms});
    tick_log log;
    every.async_tick(log.note());
    every.async_tick(log.note());
    at.run();
    CHECK(log.errors == std::vector{std::error_code(asio::error::already_started)});
    at.pass(100ms);
    CHECK(log.errors.back() == std::error_code());
}

TEST_CASE("interval_cancelled_tick_is_still_to_come") {
    virtual_wheel at;
    ticking every(at.wheel, {.period = 100ms});
    const point start = manual_clock::now();
    tick_log log;
    asio::cancellation_signal signal;
    CHECK(!every.cancel());
    every.async_tick(log.note());
    CHECK(every.cancel());
    at.run();
    every.async_tick(asio::bind_cancellation_slot(signal.slot(), log.note()));
    signal.emit(asio::cancellation_type::total);
    at.run();
    CHECK(log.errors == std::vector<std::error_code>(2, asio::error::operation_aborted));
    every.async_tick(log.note());
    at.pass(100ms);
    CHECK(log.due.back() == start + 100ms);
    CHECK(every.count() == 1);
}

TEST_CASE("interval_destroyed_or_its_wheel_gone") {
    asio::io_context io;
    std::optional<testing::manual_timer_wheel> wheel(io);
    std::optional<ticking> every(std::in_place, *wheel, interval_options{.period = 100ms});
    tick_log log;
    every->async_tick(log.note());
    every.reset();
    run_ready(io);
    CHECK(log.errors == std::vector{std::error_code(asio::error::operation_aborted)});

    // It has come already, and is on its way to the handler.
    auto strand = asio::make_strand(io);
    every.emplace(*wheel, interval_options{.period = 100ms});
    every->async_tick(asio::bind_executor(strand, log.note()));
    manual_clock::advance(100ms);
    asio::post(strand, [&] { every.reset(); });
    run_ready(io);
    CHECK(log.errors.size() == 2);

    every.emplace(*wheel, interval_options{.period = 100ms});
    wheel.reset();
    every->async_tick(log.note());
    run_ready(io);
    CHECK(log.errors.back() == errc::stopped);
}

TEST_CASE("interval_moved_keeps_its_tick") {
    virtual_wheel at;
    tick_log log;
    ticking one(at.wheel, {.period = 100ms});
    one.async_tick(log.note());
    ticking two(std::move(one));
    at.pass(100ms);
    CHECK(two.count() == 1);
    ticking three(at.wheel, {.period = 1s});
    three.async_tick(log.note());
    three = std::move(two);
    at.run();
    CHECK(log.errors == std::vector<std::error_code>{{}, asio::error::operation_aborted});
    CHECK(three.count() == 1);
}

TEST_CASE("interval_begins_at_a_point") {
    virtual_wheel at({.tick = 10ms});
    const point noon = manual_clock::now() + 1s;
    tick_log log;
    ticking every(at.wheel, noon, {.period = 100ms});
    every.async_tick(log.note());
    ticks_at(noon, at, every, log);

    ticking late(at.wheel, manual_clock::now() - 250ms, {.period = 100ms}); // as a late tick: skips to the grid ahead
    const point past = manual_clock::now() - 250ms;
    late.async_tick(log.note());
    at.pass(10ms);
    late.async_tick(log.note());
    at.pass(100ms);
    CHECK(log.due[2] == past);
    CHECK(log.due[3] == past + 300ms);
    CHECK(late.missed() == 2);
}

TEST_CASE("interval_far_past_start_with_jitter") {
    virtual_wheel at({.tick = 10ms});
    tick_log log;
    ticking every(at.wheel, point(-6h), {.period = 1h, .jitter = 1s});
    every.async_tick(log.note());
    at.pass(10ms);
    REQUIRE(log.due == std::vector{point(-6h)});
    every.async_tick(log.note());
    at.pass(1h + 1s + 10ms);
    REQUIRE(log.due.size() == 2);
    CHECK(log.due[1] > manual_clock::now() - 2h);
    CHECK(every.missed() < 1000);
}

TEST_CASE("interval_reset_counts_from_now") {
    virtual_wheel at({.tick = 10ms});
    tick_log log;
    ticking every(at.wheel, {.period = 100ms});
    every.async_tick(log.note());
    at.pass(60ms);
    const point first = manual_clock::now() + 100ms;
    every.reset(); // moves the pending tick
    ticks_at(first, at, every, log);
    CHECK(every.count() == 2);

    every.reset(30ms); // while no tick is pending
    const point next = manual_clock::now() + 30ms;
    every.async_tick(log.note());
    at.pass(30ms);
    CHECK(log.due.back() == next);
    every.async_tick(log.note());
    every.reset(-1s);
    const point now = manual_clock::now();
    at.pass(10ms);
    CHECK(log.due.back() == now);
    every.async_tick(log.note());
    every.reset(now + 40ms); // sooner than the grid
    at.pass(30ms);
    CHECK(log.due.back() == now + 40ms);
}

TEST_CASE("interval_reset_does_not_lose_a_tick_that_is_on_its_way") {
    virtual_wheel at({.tick = 10ms});
    asio::io_context other;
    const point start = manual_clock::now();
    tick_log log;
    ticking every(at.wheel, {.period = 100ms});
    every.async_tick(asio::bind_executor(other, log.note()));
    at.pass(100ms); // expired; the handler is queued
    every.reset(50ms);
    run_ready(other);
    REQUIRE(log.due == std::vector{start + 100ms});
    every.async_tick(asio::bind_executor(other, log.note()));
    at.pass(50ms);
    run_ready(other);
    CHECK(log.due.back() == start + 150ms);
    CHECK(every.missed() == 0);
}

TEST_CASE("interval_reset_starts_a_fixed_delay_and_beyond_the_end_there_is_no_tick") {
    virtual_wheel at({.tick = 10ms});
    const point start = manual_clock::now();
    tick_log log;
    ticking every(at.wheel, {.period = 100ms, .pace = interval_pace::fixed_delay}, start + 500ms);
    every.async_tick(log.note());
    at.pass(100ms);
    every.reset(20ms); // not a period from the next call
    every.async_tick(log.note());
    at.pass(20ms);
    every.async_tick(log.note());
    at.pass(100ms);
    CHECK(log.due == std::vector{start + 100ms, start + 120ms, start + 220ms});

    every.async_tick(log.note());
    every.reset(start + 501ms);
    at.run();
    CHECK(log.errors.back() == asio::error::eof);
    every.async_tick(log.note());
    at.run();
    CHECK(log.errors.size() == 5);
    CHECK(log.errors.back() == asio::error::eof);
    every.reset(start + 500ms); // there is one again
    every.async_tick(log.note());
    at.pass(280ms);
    CHECK(log.due.back() == start + 500ms);
}

TEST_CASE("interval_tick_that_a_full_wheel_refuses_comes_later") {
    virtual_wheel at({.tick = 10ms, .max_pending = 1});
    const point start = manual_clock::now();
    tick_log log;
    ticking every(at.wheel, {.period = 100ms});
    const auto other = at.wheel.schedule(1s, [] {}); // takes the only place
    every.async_tick(log.note());
    at.run();
    CHECK(log.errors == std::vector<std::error_code>{errc::too_many_timers});
    CHECK(other.cancel());
    every.async_tick(log.note());
    at.pass(100ms);
    CHECK(log.due.back() == start + 100ms);
}

TEST_CASE("interval_options_that_make_no_sense_are_refused") {
    CHECK(refusal_of_interval({.period = 1ns}).empty());
    CHECK(refusal_of_interval({}).find("period is 0 ns") != std::string::npos);
    CHECK(refusal_of_interval({.period = -1s}).find("above zero") != std::string::npos);
    CHECK(refusal_of_interval({.period = 1s, .first_delay = -1ns}).find("first_delay is -1 ns") != std::string::npos);
    virtual_wheel at;
    CHECK_THROWS_WITH_AS(ticking(at.wheel, point(), {.period = 1s, .first_delay = 2s}),
                         doctest::Contains("first_delay is 2000000000 ns, but the first tick has a point"),
                         std::invalid_argument);
    CHECK(refusal_of_interval({.period = 1s, .times = 0}).find("times is 0") != std::string::npos);
    CHECK(refusal_of_interval({.period = 1s, .jitter = 1s}).find("below the period of 1000000000 ns") !=
          std::string::npos);
    CHECK(refusal_of_interval({.period = 1s, .jitter = -1ns}).find("jitter is -1 ns") != std::string::npos);
}
