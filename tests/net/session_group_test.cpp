// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The drain of a server: it ends with the last session, or after its time, and loses no handler.
#include "support/asio/virtual_wheel.hpp"
#include "support/threads.hpp"

#include <cogwheel/net/session_group.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using group = session_group<testing::manual_timer_wheel>;

struct drain_log {
    std::vector<std::error_code> ended;
    auto note() {
        return [this](std::error_code ec) { ended.push_back(ec); };
    }
};

} // namespace

TEST_CASE("drain_ends_with_the_last_session") {
    virtual_wheel at({.tick = 10ms});
    group sessions(at.wheel);
    drain_log log;
    std::optional<group::member> a(sessions.enter()), b(sessions.enter());
    CHECK(sessions.size() == 2);
    sessions.async_drain(30s, log.note());
    at.pass(1s);
    a.reset();
    at.run();
    CHECK(log.ended.empty());
    b->leave();
    b->leave();               // does nothing
    CHECK(log.ended.empty()); // not inline
    at.run();
    CHECK(log.ended == std::vector{std::error_code()});
    CHECK(sessions.empty());
    CHECK(at.wheel.pending() == 0);
    b.reset();
    CHECK(sessions.empty());
}

TEST_CASE("drain_ends_after_its_time_and_says_who_is_left") {
    virtual_wheel at({.tick = 10ms});
    group sessions(at.wheel);
    drain_log log;
    const auto stuck = sessions.enter();
    sessions.async_drain(30s, log.note());
    at.pass(30s - 1ns);
    CHECK(log.ended.empty());
    at.pass(10ms);
    CHECK(log.ended == std::vector{std::error_code(asio::error::timed_out)});
    CHECK(sessions.size() == 1);
    sessions.async_drain(0s, log.note());
    at.run();
    CHECK(log.ended.size() == 2);
    CHECK(log.ended.back() == asio::error::timed_out);
}

TEST_CASE("drain_without_sessions_succeeds_but_not_inline") {
    virtual_wheel at;
    group sessions(at.wheel);
    drain_log log;
    sessions.async_drain(0s, log.note());
    CHECK(log.ended.empty());
    at.run();
    CHECK(log.ended == std::vector{std::error_code()});
    CHECK(at.wheel.stats().scheduled == 0);
}

TEST_CASE("drain_counts_sessions_that_enter_meanwhile") {
    virtual_wheel at;
    group sessions(at.wheel);
    drain_log log;
    auto first = sessions.enter();
    sessions.async_drain(30s, log.note());
    auto late = sessions.enter();
    first = {};
    at.run();
    CHECK(log.ended.empty());
    late = {};
    const auto after = sessions.enter(); // there was a moment without a session
    at.run();
    CHECK(log.ended == std::vector{std::error_code()});
}

TEST_CASE("drain_second_one_is_refused_and_the_first_goes_on") {
    virtual_wheel at;
    group sessions(at.wheel);
    drain_log first, second;
    auto in = sessions.enter();
    sessions.async_drain(30s, first.note());
    sessions.async_drain(1s, second.note());
    at.run();
    CHECK(second.ended == std::vector{std::error_code(asio::error::already_started)});
    in = {};
    at.run();
    CHECK(first.ended == std::vector{std::error_code()});
}

TEST_CASE("drain_cancelled_by_its_slot_may_start_again") {
    virtual_wheel at;
    group sessions(at.wheel);
    drain_log log;
    asio::cancellation_signal stop;
    auto in = sessions.enter();
    sessions.async_drain(30s, asio::bind_cancellation_slot(stop.slot(), log.note()));
    stop.emit(asio::cancellation_type::terminal);
    at.run();
    CHECK(log.ended == std::vector{std::error_code(asio::error::operation_aborted)});
    sessions.async_drain(30s, log.note());
    in = {};
    at.run();
    CHECK(log.ended.back() == std::error_code());
}

TEST_CASE("drain_ends_with_its_group_or_its_wheel_and_members_may_stay") {
    asio::io_context io;
    std::optional<testing::manual_timer_wheel> wheel(io);
    std::optional<group> sessions(*wheel);
    drain_log log;
    auto a = sessions->enter();
    sessions->async_drain(30s, log.note());
    sessions.reset();
    run_ready(io);
    CHECK(log.ended == std::vector{std::error_code(asio::error::operation_aborted)});
    a = {};

    sessions.emplace(*wheel);
    auto b = sessions->enter();
    sessions->async_drain(30s, log.note());
    wheel.reset();
    run_ready(io);
    CHECK(log.ended.back() == asio::error::operation_aborted);
    sessions->async_drain(30s, log.note());
    run_ready(io);
    CHECK(log.ended.back() == errc::stopped);
    b.leave();
    CHECK(sessions->empty());
}

TEST_CASE("drain_full_wheel_says_so") {
    virtual_wheel at({.max_pending = 1});
    group sessions(at.wheel);
    drain_log log;
    at.wheel.schedule(1h, [] {});
    const auto in = sessions.enter();
    sessions.async_drain(30s, log.note());
    at.run();
    CHECK(log.ended == std::vector{std::error_code(errc::too_many_timers)});
}

TEST_CASE("drain_context_destroyed_with_sessions_and_a_drain") {
    auto in_handler = std::make_shared<int>(0);
    {
        std::optional<virtual_wheel> at(std::in_place);
        auto sessions = std::make_shared<group>(at->wheel);
        asio::co_spawn(
            at->io,
            [](group::member, testing::manual_timer_wheel& wheel) -> asio::awaitable<void> {
                co_await wheel.async_wait(1h, asio::use_awaitable);
            }(sessions->enter(), at->wheel),
            asio::detached);
        sessions->async_drain(30s,
                              [sessions, in_handler, own = sessions->enter()](std::error_code) { FAIL("called"); });
        at->run();
        CHECK(sessions->size() == 2);
        sessions.reset();
        at.reset();
    }
    CHECK(in_handler.use_count() == 1);
}

TEST_CASE("drain_sessions_of_many_threads") {
    for (int round = 0; round < 20; ++round) {
        asio::thread_pool pool(2);
        timer_wheel wheel(pool);
        session_group sessions(wheel);
        for (int i = 0; i < 100; ++i)
            asio::post(pool, [in = std::make_shared<session_group<>::member>(sessions.enter())] { in->leave(); });
        auto drained = sessions.async_drain(1h, asio::use_future);
        drained.get(); // hangs if the end of the last session is lost
        pool.join();
    }
}
