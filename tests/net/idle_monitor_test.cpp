// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A monitor on a wheel: events in time, one timer at the most, activity that costs no wheel operation.
#include "support/asio/asio_backend.hpp"
#include "support/asio/counted_world.hpp"
#include "support/net/idle_rig.hpp"

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("async_idle_completes_a_limit_after_the_last_activity", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    r.wait();
    r.pass(6s);
    r.idle.touch_read();
    r.pass(9s);
    CHECK(r.log.size() == 0);
    r.pass(1s);
    REQUIRE(r.log.size() == 1);
    CHECK_FALSE(r.log.last().ec);
    CHECK(r.log.last().event.kind == idle_kind::reader);
    CHECK(r.log.last().event.first);
    CHECK(r.log.last().event.idle_for == 10s);
    CHECK(r.wheel.pending() == 0); // nobody waits
}

TEST_CASE_TEMPLATE("async_idle_in_a_loop_repeats_each_period", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s, .writer = 25s});
    std::vector<idle_event> events;
    asio::co_spawn(
        r.io,
        [&]() -> asio::awaitable<void> {
            for (;;) events.push_back(co_await r.idle.async_idle(asio::use_awaitable));
        },
        asio::detached);
    for (int i = 0; i < 31; ++i) r.pass(1s);
    REQUIRE(events.size() == 4);
    CHECK(events[0].first);
    CHECK_FALSE(events[1].first);
    CHECK(events[1].idle_for == 20s);
    CHECK(events[2].kind == idle_kind::writer);
    CHECK(events[2].first);
    CHECK(events[3].kind == idle_kind::reader);
    r.wheel.stop(); // ends the coroutine
    r.run();
}

TEST_CASE_TEMPLATE("touch_does_no_wheel_operation", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s, .writer = 20s, .all = 30s});
    r.wait();
    CHECK(r.wheel.pending() == 1); // for three limits
    const auto before = r.wheel.stats();
    for (int i = 0; i < 9999; ++i) {
        manual_clock::advance(1ms);
        r.idle.touch();
        r.idle.touch(manual_clock::now());
    }
    CHECK(handlers_ran(r.run(), 0));
    const auto after = r.wheel.stats();
    CHECK(after.scheduled == before.scheduled);
    CHECK(after.turns == before.turns);
    CHECK(after.wakeups == before.wakeups);
    r.pass(1ms); // one look a limit, not one a touch
    CHECK(r.log.size() == 0);
    CHECK(r.wheel.stats().fired == 1);
    CHECK(r.wheel.pending() == 1);
}

TEST_CASE_TEMPLATE("event_that_came_due_while_nobody_waited_is_told_at_once_if_it_still_holds", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    r.pass(15s);
    r.wait();
    CHECK(r.log.size() == 0); // not inline
    r.run();
    REQUIRE(r.log.size() == 1);
    CHECK(r.log.last().event.idle_for == 15s);

    r.pass(15s);
    r.idle.touch_read();
    r.wait();
    r.run();
    CHECK(r.log.size() == 1);
    r.pass(10s);
    CHECK(r.log.size() == 2);
    CHECK(r.log.last().event.first);
}

TEST_CASE_TEMPLATE("several_kinds_due_at_once_come_one_by_one", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s, .writer = 10s, .all = 10s});
    r.pass(10s);
    for (const auto kind : {idle_kind::reader, idle_kind::writer, idle_kind::all}) {
        r.wait();
        r.run();
        CHECK(r.log.last().event.kind == kind);
    }
    r.wait();
    r.run();
    CHECK(r.log.size() == 3);
}

TEST_CASE_TEMPLATE("reset_resets_times_and_first_flags", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    r.wait();
    r.pass(10s);
    r.wait();
    r.pass(5s);
    r.idle.reset();
    r.pass(9s);
    CHECK(r.log.size() == 1);
    r.pass(1s);
    REQUIRE(r.log.size() == 2);
    CHECK(r.log.last().event.first);
}

TEST_CASE_TEMPLATE("read_in_progress_is_not_idle_and_its_end_is_activity", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s, .all = 10s});
    r.wait();
    r.idle.begin_read();
    r.pass(25s);
    CHECK(r.log.size() == 0);
    r.idle.end_read();
    r.pass(9s);
    CHECK(r.log.size() == 0);
    r.pass(1s);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("probe_is_asked_only_when_an_event_would_be_due", Wheel, BOTH_WHEELS) {
    struct : idle_probe {
        int asked = 0;
        std::uint64_t left = 0;
        bool input_waits() noexcept override {
            ++asked;
            return false;
        }
        std::optional<std::uint64_t> output_progress() noexcept override {
            ++asked;
            return left;
        }
    } probe;
    idle_rig<Wheel> r({.writer = 10s});
    r.idle.set_probe(&probe);
    r.wait();
    r.pass(9s);
    CHECK(probe.asked == 0);
    probe.left = 5; // bytes left a slow peer's queue
    r.pass(1s);
    CHECK(probe.asked == 1);
    CHECK(r.log.size() == 0);
    r.pass(10s);
    CHECK(r.log.size() == 1);
    r.idle.set_probe(nullptr);
    r.wait();
    r.pass(10s);
    CHECK(r.log.size() == 2);
    CHECK(probe.asked == 2);
}

TEST_CASE_TEMPLATE("probe_is_asked_at_a_write", Wheel, BOTH_WHEELS) {
    struct : idle_probe {
        std::uint64_t left = 0;
        std::optional<std::uint64_t> output_progress() noexcept override { return left; }
    } probe;
    idle_rig<Wheel> r({.writer = 10s});
    r.idle.set_probe(&probe);
    r.wait();
    probe.left = 5;
    r.idle.touch_write();
    r.pass(10s);
    CHECK(r.log.size() == 1); // the peer has taken nothing since
    r.wait();
    probe.left = 7;
    r.pass(10s);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("reset_of_reads_or_writes", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s, .writer = 10s});
    r.wait();
    r.pass(5s);
    r.idle.begin_read();
    r.idle.reset_read();
    r.pass(5s);
    REQUIRE(r.log.size() == 1);
    CHECK(r.log.last().event.kind == idle_kind::writer);
    r.wait();
    r.idle.reset_write();
    r.pass(5s);
    REQUIRE(r.log.size() == 2);
    CHECK(r.log.last().event.kind == idle_kind::reader);
}

TEST_CASE_TEMPLATE("limits_changed_while_waiting_take_effect_at_once", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({});
    r.wait(); // all off
    r.pass(1h);
    CHECK(r.log.size() == 0);
    r.idle.touch();
    r.pass(1s);
    r.idle.set_limits({.reader = 60s});
    CHECK(r.wheel.pending() == 1);
    r.pass(4s);
    r.idle.set_limits({.reader = 6s});
    r.pass(1ms);
    CHECK(r.log.size() == 0);
    r.pass(999ms);
    REQUIRE(r.log.size() == 1);
    CHECK(r.log.last().event.idle_for == 6s);
    r.wait();
    r.idle.set_limits({});
    r.pass(1h);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("limits_changed_all_the_time_do_not_put_an_event_off", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.writer = 1s}, {.tick = 10ms});
    r.wait();
    for (int i = 0; i < 110; ++i) {
        manual_clock::advance(10ms);
        r.idle.set_limits({.writer = 1s});
        r.run();
    }
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("event_due_at_the_start_is_told_only_if_it_still_holds", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    r.pass(15s);
    r.wait();
    r.idle.touch_read(); // before it comes to the executor
    r.run();
    CHECK(r.log.size() == 0);
    r.pass(15s);
    r.log.entries.clear();
    r.wait();
    CHECK(r.idle.cancel() == 1);
    r.run();
    CHECK(r.log.size() == 1);
    CHECK(r.log.last_error() == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("bad_limits_are_refused_and_change_nothing", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    for (const double jitter : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        CHECK_THROWS_WITH_AS(r.idle.set_limits({.reader = 1s, .jitter = jitter}), doctest::Contains("must be 0 .. 1"),
                             std::invalid_argument);
        CHECK_THROWS_AS(idle_monitor<Wheel>(r.wheel, {.jitter = jitter}), std::invalid_argument);
    }
    r.wait();
    r.pass(9s);
    CHECK(r.log.size() == 0);
    r.pass(1s);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("second_async_idle_is_already_started", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    idle_log second;
    r.wait();
    r.idle.async_idle(second.handler());
    CHECK(second.size() == 0);
    r.run();
    CHECK(second.last_error() == asio::error::already_started);
    r.pass(10s);
    CHECK(r.log.size() == 1);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("cancel_completes_with_operation_aborted", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    CHECK(r.idle.cancel() == 0);
    r.wait();
    CHECK(r.idle.cancel() == 1);
    CHECK(r.idle.cancel() == 0);
    CHECK(r.log.size() == 0);
    r.run();
    CHECK(r.log.last_error() == asio::error::operation_aborted);
    CHECK(r.wheel.pending() == 0);
    r.idle.set_limits({});
    r.wait(); // without a timer
    CHECK(r.idle.cancel() == 1);
    CHECK(r.log.size() == 1);
    r.run();
    CHECK(r.log.size() == 2);
    CHECK(r.log.last_error() == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("cancel_then_wait_again_at_once", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    idle_log second;
    r.wait();
    r.idle.cancel();
    r.idle.async_idle(second.handler());
    r.run();
    CHECK(r.log.last_error() == asio::error::operation_aborted);
    CHECK(second.size() == 0);
    r.pass(10s);
    CHECK(r.log.size() == 1);
    CHECK(second.size() == 1);
    CHECK_FALSE(second.last_error());
}

TEST_CASE_TEMPLATE("cancel_by_slot_completes_with_operation_aborted", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    asio::cancellation_signal signal;
    r.idle.async_idle(asio::bind_cancellation_slot(signal.slot(), r.log.handler()));
    signal.emit(asio::cancellation_type::none);
    r.run();
    CHECK(r.log.size() == 0);
    signal.emit(asio::cancellation_type::total);
    r.run();
    CHECK(r.log.last_error() == asio::error::operation_aborted);
    signal.emit(asio::cancellation_type::terminal); // the operation is over
    r.wait();
    r.pass(10s);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("wheel_stopped_or_full_is_an_error", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s}, {.tick = 1ms, .max_pending = 1});
    const auto other = r.wheel.schedule(1h, [] {});
    r.wait();
    r.run();
    CHECK(r.log.last_error() == errc::too_many_timers);
    other.cancel();
    r.wait();
    r.wheel.stop();
    r.run();
    CHECK(r.log.size() == 2);
    CHECK(r.log.last_error() == asio::error::operation_aborted);
    r.wait();
    r.run();
    CHECK(r.log.last_error() == errc::stopped);
}

TEST_CASE("async_idle_gives_a_future_and_takes_move_only_handlers") {
    idle_rig<manual_timer_wheel> r({.reader = 10s});
    auto future = r.idle.async_idle(asio::use_future);
    r.pass(10s);
    CHECK(future.get().kind == idle_kind::reader);
    bool called = false;
    r.idle.async_idle([&, owned = std::make_unique<int>(1)](std::error_code, idle_event) { called = *owned == 1; });
    r.pass(10s);
    CHECK(called);
}

TEST_CASE("touch_on_a_tick_clock_is_not_before_the_present_and_little_after_it") {
    using world = counted_world;
    world::begin();
    asio::io_context io;
    basic_timer_wheel<counted_clock, multi_threaded> wheel(io, {.tick = 1ms});
    for (int i = 0; i < 40; ++i) { // until the rate is known
        world::pass(1e6);
        wheel.schedule(1h, [] {}).cancel();
    }
    idle_monitor idle(wheel, idle_timeouts{.all = 500us});
    for (int i = 0; i < 1'000; ++i) {
        const auto before = counted_clock::now();
        idle.touch();
        const auto after = counted_clock::now();
        if (i % 10 != 9) { // so the anchor has any age
            world::pass(i * 7919 % 30'000);
            continue;
        }
        world::pass(700'000);
        std::optional<idle_event> event; // due at once, so it comes without a turn
        idle.async_idle([&](std::error_code, idle_event e) { event = e; });
        const auto asked = counted_clock::now();
        io.poll();
        io.restart();
        REQUIRE(event);
        CHECK(event->idle_for <= counted_clock::now() - before);
        CHECK(event->idle_for >= asked - after - 100us);
    }
}
