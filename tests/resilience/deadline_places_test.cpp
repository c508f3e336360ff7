// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A deadline is taken wherever a point in time is. None is a point that never comes.
#include "support/asio/scripted_operation.hpp"

#include <cogwheel/asio/callback_timer.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/resilience/deadline.hpp>
#include <cogwheel/resilience/retry.hpp>
#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>

#include <asio/co_spawn.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <concepts>
#include <deque>
#include <string>
#include <utility>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using manual_deadline = basic_deadline<manual_clock>;

struct places {
    virtual_wheel w{{.tick = 1ms}};
    int done = 0;

    auto count() {
        return [this](auto&&...) { ++done; };
    }
};

} // namespace

TEST_CASE("deadline_in_place_of_a_time_point_of_a_timer") {
    places p;
    const auto d = manual_deadline::after(50ms);
    auto f = [&] { ++p.done; };
    p.w.wheel.schedule(d, f);
    callback_timer by_callback(p.w.wheel, f);
    CHECK(by_callback.schedule(d));
    p.w.wheel.async_wait(d, p.count());
    basic_wheel_timer<testing::manual_timer_wheel> timer(p.w.wheel, d), moved(p.w.wheel);
    timer.async_wait(p.count());
    moved.expires_at(d);
    moved.async_wait(p.count());
    const auto later = p.w.wheel.schedule(1h, f);
    CHECK(later.reschedule(d));
    keyed_timers<std::string, manual_timer_wheel> table(p.w.wheel);
    CHECK_FALSE(table.add("key", d, f));
    interval ticks(p.w.wheel, d, {.period = 1h});
    ticks.async_tick(p.count());
    p.w.pass(49ms);
    CHECK(p.done == 0);
    p.w.pass(1ms);
    CHECK(p.done == 8);
}

TEST_CASE("deadline_in_place_of_a_time_point_of_a_timeout") {
    places p;
    const auto d = manual_deadline::after(50ms);
    std::vector<std::error_code> ended;
    std::deque<scripted_read> reads;
    const auto operation = [&](auto token) {
        scripted_read& read = reads.emplace_back(p.w.io.get_executor());
        read.on_cancel = [&read](asio::cancellation_type) { read.complete(asio::error::operation_aborted, 0); };
        read.async_run(std::move(token));
    };
    const auto note = [&](std::error_code ec, std::size_t) { ended.push_back(ec); };
    operation(timeout(p.w.wheel, d, note));
    operation(timeout(p.w.wheel, d, {.own_error = true}, note));
    timeout_scope within(p.w.wheel, d);
    operation(within(note));
    operation(timeout(p.w.wheel, manual_deadline(), note)); // none
    asio::co_spawn(p.w.io, timeout(p.w.wheel, d, p.w.wheel.async_wait(1h, asio::use_awaitable)),
                   [&](const std::exception_ptr& e) { ended.push_back(detail::code_of(e)); });
    p.w.run();
    p.w.pass(49ms);
    CHECK(ended.empty());
    p.w.pass(1ms);
    p.w.run();
    const std::error_code late = asio::error::timed_out, cancelled = asio::error::operation_aborted;
    CHECK(ended == std::vector{late, cancelled, late, late});
    p.w.pass(24h);
    CHECK(ended.size() == 4);
    CHECK(p.w.wheel.cancel_all() == 1);
    p.w.run();
}

TEST_CASE("deadline_of_the_steady_clock_on_the_wheel_of_a_context") {
    asio::io_context io;
    const deadline d = deadline::after(1h);
    timeout_scope within(d);
    CHECK(within.expiry() == d.expiry());
    static_assert(std::convertible_to<deadline, timer_wheel::time_point>);
    static_assert(!std::convertible_to<timer_wheel::time_point, deadline>);
    static_assert(!std::convertible_to<deadline, bool>);
}
