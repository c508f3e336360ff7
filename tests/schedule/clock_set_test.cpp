// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits for a date that are told when somebody sets the clock. All waits here read it once an hour by themselves.
#include "support/asio/virtual_wheel.hpp"
#include "support/asio_versions.hpp"
#include "support/no_descriptors.hpp"
#include "support/schedule/watched_wall.hpp"
#include "support/threads.hpp"

#include <cogwheel/net/idle_monitor.hpp>
#include <cogwheel/net/overload_factor.hpp>
#include <cogwheel/schedule/wall_clock.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

constexpr wall_clock_options rarely{.recheck = 1h};
constexpr watched_wall::time_point date_noon = std::chrono::sys_days(std::chrono::year(2026) / 11 / 22) + 12h;

struct told_dates {
    virtual_wheel at{{.tick = 10ms}};
    std::vector<int> ended;
    std::vector<std::error_code> errors;

    told_dates() { watched_wall::present = date_noon; }
    void wait(watched_wall::time_point date, int name) {
        async_wait_until_date<watched_wall>(at.wheel, date, rarely, [this, name](std::error_code ec) {
            ended.push_back(name);
            errors.push_back(ec);
        });
    }
    void set(watched_wall::time_point to) {
        watched_wall::set(to);
        at.run();
    }
};

} // namespace

TEST_CASE("clock_set_forward_ends_the_waits_that_it_reaches_at_once") {
    told_dates d;
    for (int hour = 1; hour <= 5; ++hour) d.wait(date_noon + hour * 1h, hour);
    d.at.run();
    CHECK(watched_wall::watches.size() == 1); // one for the wheel
    d.set(date_noon + 3h);
    CHECK(d.ended == std::vector{1, 2, 3});
    CHECK(d.at.wheel.pending() == 2);
    d.set(date_noon + 4h); // again
    CHECK(d.ended == std::vector{1, 2, 3, 4});
    d.set(date_noon + 5h - 1s);
    d.at.pass(1s);
    CHECK(d.ended.size() == 4); // not early
    watched_wall::pass(1s);
    d.at.pass(30ms);
    CHECK(d.ended.size() == 4); // it found a second to wait when the clock had been set
    d.at.pass(1s);
    CHECK(d.ended.size() == 5);
    for (const std::error_code ec : d.errors) CHECK_FALSE(ec);
}

TEST_CASE("clock_set_back_keeps_waits_waiting") {
    told_dates d;
    d.wait(date_noon + 10s, 1);
    d.at.run();
    d.set(date_noon - 1h);
    d.at.pass(20s);
    CHECK(d.ended.empty());
    d.set(date_noon + 1min);
    CHECK(d.ended == std::vector{1});
}

TEST_CASE("clock_watched_lets_run_return_after_the_last_wait") {
    told_dates d;
    d.wait(date_noon + 10s, 1);
    asio::cancellation_signal signal;
    async_wait_until_date<watched_wall>(d.at.wheel, date_noon + 1h, rarely,
                                        asio::bind_cancellation_slot(signal.slot(), [&](std::error_code) {}));
    d.at.run();
    CHECK_FALSE(d.at.io.stopped());
    d.set(date_noon + 10s);
    CHECK_FALSE(d.at.io.stopped());
    signal.emit(asio::cancellation_type::terminal);
    d.at.run();
    CHECK(d.at.io.stopped()); // nothing to wait for
    d.wait(date_noon + 20s, 2);
    d.at.run();
    CHECK_FALSE(d.at.io.stopped());
    d.set(date_noon + 20s); // the watch waits again
    CHECK(d.ended == std::vector{1, 2});
    CHECK(d.at.io.stopped());
}

TEST_CASE("clock_watched_by_waits_that_follow_each_other") {
    told_dates d;
    asio::co_spawn(
        d.at.io,
        [&]() -> asio::awaitable<void> {
            for (int hour = 1; hour <= 3; ++hour) {
                co_await async_wait_until_date<watched_wall>(d.at.wheel, date_noon + hour * 1h, rarely,
                                                             asio::use_awaitable);
                d.ended.push_back(hour);
            }
        },
        asio::detached);
    d.at.run();
    for (int hour = 1; hour <= 3; ++hour) {
        d.set(date_noon + hour * 1h - 1s);
        CHECK(d.ended.size() + 1 == static_cast<std::size_t>(hour));
        d.set(date_noon + hour * 1h);
        CHECK(d.ended.size() == static_cast<std::size_t>(hour));
    }
    CHECK(d.at.io.stopped());
}

TEST_CASE("clock_set_between_the_cancellation_of_the_watch_and_its_completion") {
    told_dates d;
    asio::cancellation_signal signal;
    bool gone = false;
    async_wait_until_date<watched_wall>(
        d.at.wheel, date_noon + 1h, rarely,
        asio::bind_cancellation_slot(signal.slot(), [&](std::error_code) { gone = true; }));
    d.at.run();
    signal.emit(asio::cancellation_type::terminal);
    while (!gone) d.at.io.poll_one();
    d.wait(date_noon + 2h, 2); // the cancelled watch has not completed yet
    d.set(date_noon + 2h);
    CHECK(d.ended == std::vector{2});
}

TEST_CASE("clock_is_not_watched_for_a_wait_that_has_not_begun") {
    told_dates d;
    auto later = async_wait_until_date<watched_wall>(d.at.wheel, date_noon + 1h, rarely, deferred);
    d.at.run();
    CHECK(d.at.io.stopped());
    std::optional<std::error_code> ended;
    std::move(later)([&](std::error_code ec) { ended = ec; });
    d.set(date_noon + 1h);
    CHECK(ended == std::error_code());
}

TEST_CASE("clock_watched_on_a_local_wheel_and_beside_an_overload_factor") {
    asio::io_context io;
    manual_local_timer_wheel wheel(io, {.tick = 10ms});
    watched_wall::present = date_noon;
    overload_factor(wheel, 0.5); // another extension of the same wheel
    std::optional<std::error_code> ended;
    async_wait_until_date<watched_wall>(wheel, date_noon + 1h, rarely, [&](std::error_code ec) { ended = ec; });
    run_ready(io);
    watched_wall::set(date_noon + 1h);
    run_ready(io);
    CHECK(ended == std::error_code());
    CHECK(overload_factor(wheel) == 0.5);
}

TEST_CASE("clock_watched_while_the_wheel_or_the_context_goes") {
    std::optional<std::error_code> ended;
    auto memory = std::make_shared<int>();
    {
        asio::io_context io;
        std::optional<testing::manual_timer_wheel> wheel(io);
        watched_wall::present = date_noon;
        async_wait_until_date<watched_wall>(*wheel, date_noon + 1h, rarely, [&](std::error_code ec) { ended = ec; });
        run_ready(io);
        wheel.reset();
        run_ready(io);
        CHECK(ended == asio::error::operation_aborted);
        CHECK(io.stopped());
        CHECK(watched_wall::watches.empty());
        wheel.emplace(io);
        async_wait_until_date<watched_wall>(*wheel, date_noon + 1h, rarely, [memory](std::error_code) {});
        run_ready(io);
        CHECK(watched_wall::watches.size() == 1);
    }
    CHECK(watched_wall::watches.empty());
    CHECK(memory.use_count() == 1);
}

TEST_CASE("clock_set_right_after_a_wait_has_read_it") {
    told_dates d;
    watched_wall::set_after(1, date_noon + 5h);
    d.wait(date_noon + 5h, 1);
    d.at.run();
    CHECK(d.ended == std::vector{1});
}

TEST_CASE("clock_that_cannot_be_watched_is_read_within_the_recheck_time") {
    told_dates d;
    d.at.run(); // the context has the descriptors that it needs
    CHECK_FALSE(error_without_descriptors([&] { d.wait(date_noon + 2h, 1); }));
    CHECK(watched_wall::watches.empty());
    d.at.run();
    d.set(date_noon + 2h);
    CHECK(d.ended.empty());
    d.at.pass(1h);
    CHECK(d.ended == std::vector{1});
    CHECK(d.at.io.stopped());
}

TEST_CASE("clock_set_while_threads_begin_and_end_waits") {
    constexpr int waits = 600;
    asio::io_context io;
    std::atomic<int> early = 0, ended = 0;
    watched_wall::present = date_noon;
    timer_wheel wheel(io, {.tick = 1ms});
    {
        const runners threads(io, 3);
        for (int i = 0; i < 3; ++i) {
            asio::co_spawn(
                asio::make_strand(io),
                [&, i]() -> asio::awaitable<void> {
                    for (int n = 0; n < waits / 3; ++n) {
                        const auto date = watched_wall::now() + std::chrono::seconds((i * 7 + n) % 5);
                        co_await async_wait_until_date<watched_wall>(wheel, date, rarely, asio::use_awaitable);
                        early += watched_wall::now() < date;
                        ++ended;
                    }
                },
                asio::detached);
        }
        // Nobody but a watch ends a wait in time: a set that a wait misses leaves it waiting for an hour.
        while (ended < waits) {
            watched_wall::set(watched_wall::now() + 1s);
            std::this_thread::yield();
        }
    }
    CHECK(early == 0);
}
