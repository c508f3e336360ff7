// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Keyed timers whose jobs run on another context than the wheel's.
#include "support/asio/virtual_wheel.hpp"
#include "support/threads.hpp"

#include <cogwheel/schedule/keyed_timers.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/strand.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using ids = keyed_timers<int, testing::manual_timer_wheel>;

} // namespace

TEST_CASE("keyed_home_destroyed_before_the_wheels_context_turns_again") {
    enum class event { none, timers_cancelled, wheel_stopped, wheel_destroyed, expired, about_to_expire };
    for (const event what : {event::none, event::timers_cancelled, event::wheel_stopped, event::wheel_destroyed,
                             event::expired, event::about_to_expire}) {
        CAPTURE(static_cast<int>(what));
        asio::io_context io;
        std::optional<testing::manual_timer_wheel> wheel(std::in_place, io);
        auto home = std::make_unique<asio::io_context>();
        auto timers = std::make_unique<ids>(*wheel, asio::make_strand(*home));
        int runs = 0;
        const auto job = std::make_shared<int>();
        CHECK(!timers->add(1, 10ms, [&runs, job] { ++runs; }));
        CHECK(!timers->add(2, 1h, [&runs, job] { ++runs; }));
        if (what == event::timers_cancelled) wheel->cancel_all();
        if (what == event::wheel_stopped) wheel->stop();
        if (what == event::wheel_destroyed) wheel.reset();
        if (what == event::expired) pass(io, 10ms);
        if (what == event::about_to_expire) manual_clock::advance(10ms);
        timers.reset();
        home.reset();
        run_ready(io);
        CHECK(runs == 0);
        CHECK(job.use_count() == 1);
    }
}

TEST_CASE("keyed_home_runs_as_long_as_timers_are_armed") {
    virtual_wheel at;
    asio::io_context home;
    ids timers(at.wheel, home.get_executor());
    int runs = 0;
    const auto returns = [&] {
        run_ready(home);
        return home.stopped();
    };
    CHECK(!timers.add(1, 10ms, [&] { ++runs; }));
    CHECK(!returns());
    CHECK(!timers.add(2, 20ms, [&] { ++runs; }));
    CHECK(!returns());
    at.pass(10ms);
    CHECK(!returns());
    CHECK(runs == 1);
    SUBCASE("the last one runs") {
        at.pass(10ms);
        CHECK(returns());
        CHECK(runs == 2);
    }
    SUBCASE("the last one is removed") {
        CHECK(timers.remove(2));
        CHECK(returns());
    }
    SUBCASE("all are cancelled") {
        at.wheel.cancel_all();
        at.run();
        CHECK(returns());
        CHECK(timers.contains(2));
    }
    SUBCASE("the table goes") {
        timers = ids(at.wheel);
        CHECK(returns());
    }
}

TEST_CASE("keyed_home_that_is_the_wheels_own_executor_is_the_wheels_turn") {
    virtual_wheel at;
    ids timers(at.wheel, at.wheel.get_executor());
    int runs = 0;
    CHECK(!timers.add(1, 10ms, [&] { ++runs; }));
    manual_clock::advance(10ms);
    at.io.restart();
    while (runs == 0) CHECK(at.io.poll_one() == 1);
    CHECK(at.io.poll_one() == 0); // no turn of its own
}

TEST_CASE("keyed_home_destroyed_while_the_wheels_thread_brings_jobs") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    const auto work = asio::make_work_guard(io);
    std::thread thread([&] { io.run(); });
    for (int round = 0; round < 300; ++round) {
        auto home = std::make_unique<asio::io_context>(1);
        auto timers = std::make_unique<keyed_timers<int>>(wheel, asio::make_strand(*home));
        for (int key = 0; key < 8; ++key) CHECK(!timers->add(key, std::chrono::microseconds(100 * key), [] {}));
        if (round % 3 == 0) wheel.cancel_all();
        if (round % 3 != 0 && round % 2 == 0) home->run_one();
        timers.reset();
        home.reset();
    }
    io.stop();
    thread.join();
    CHECK(wheel.pending() == 0);
}
