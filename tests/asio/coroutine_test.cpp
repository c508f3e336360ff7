// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits in coroutines: awaited, raced, joined, with the default token.
#include "support/asio_versions.hpp"
#include "support/virtual_wheel.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

namespace {

asio::awaitable<void> wait(manual_timer_wheel& wheel, std::chrono::nanoseconds delay, int& done) {
    co_await wheel.async_wait(delay, asio::use_awaitable);
    ++done;
}

} // namespace

TEST_CASE("use_awaitable_resumes_after_the_delay") {
    virtual_wheel w;
    int done = 0;
    co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
            co_await wait(w.wheel, 10ms, done);
            co_await wait(w.wheel, 0ms, done);
            co_await wait(w.wheel, 20ms, done);
        },
        asio::detached);
    w.run();
    CHECK(done == 0);
    w.pass(10ms);
    CHECK(done == 2);
    w.pass(19ms);
    CHECK(done == 2);
    w.pass(1ms);
    CHECK(done == 3);
}

TEST_CASE("use_awaitable_aborted_throws_operation_aborted") {
    virtual_wheel w;
    std::error_code thrown;
    co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
            try {
                co_await w.wheel.async_wait(1h, asio::use_awaitable);
            } catch (const std::system_error& e) {
                thrown = e.code();
            }
        },
        asio::detached);
    w.run();
    w.wheel.cancel_all();
    w.run();
    CHECK(thrown == asio::error::operation_aborted);
}

TEST_CASE("redirect_error_and_as_tuple_aborted_do_not_throw") {
    virtual_wheel w;
    int aborted = 0;
    co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
            std::error_code ec;
            co_await w.wheel.async_wait(1h, asio::redirect_error(asio::use_awaitable, ec));
            aborted += ec == asio::error::operation_aborted;
            const auto [second] = co_await w.wheel.async_wait(1h, as_tuple(asio::use_awaitable));
            aborted += second == asio::error::operation_aborted;
        },
        asio::detached);
    for (int i = 0; i < 2; ++i) {
        w.run();
        w.wheel.cancel_all();
    }
    w.run();
    CHECK(aborted == 2);
}

TEST_CASE("or_operator_first_wins_loser_leaves_the_wheel") {
    virtual_wheel w;
    int slow = 0, fast = 0;
    std::size_t winner = 9;
    co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
            const auto result = co_await (wait(w.wheel, 1h, slow) || wait(w.wheel, 10ms, fast));
            winner = result.index();
        },
        asio::detached);
    w.run();
    CHECK(w.wheel.pending() == 2);
    w.pass(10ms);
    CHECK(winner == 1);
    CHECK(fast == 1);
    CHECK(w.wheel.pending() == 0);
    w.pass(2h);
    CHECK(slow == 0);
    CHECK(w.wheel.stats().cancelled == 1);
}

TEST_CASE("and_operator_waits_for_both") {
    virtual_wheel w;
    int first = 0, second = 0, joined = 0;
    co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
            co_await (wait(w.wheel, 30ms, first) && wait(w.wheel, 10ms, second));
            ++joined;
        },
        asio::detached);
    w.run();
    w.pass(10ms);
    CHECK(second == 1);
    CHECK(joined == 0);
    w.pass(20ms);
    CHECK(first == 1);
    CHECK(joined == 1);
}

TEST_CASE("or_operator_raced_many_times_slots_are_reused_safely") {
    virtual_wheel w;
    int rounds = 0, slow = 0, fast = 0;
    co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
            for (; rounds < 50; ++rounds) co_await (wait(w.wheel, 1h, slow) || wait(w.wheel, 10ms, fast));
        },
        asio::detached);
    w.run();
    for (int i = 0; i < 50; ++i) w.pass(10ms);
    CHECK(rounds == 50);
    CHECK(fast == 50);
    CHECK(slow == 0);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE("as_default_on_token_may_be_left_out") {
    asio::io_context io;
    auto wheel = asio::use_awaitable.as_default_on(manual_timer_wheel(io));
    bool done = false;
    co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await wheel.async_wait(10ms);
            co_await wheel.async_wait_until(manual_clock::now() + 10ms);
            done = true;
        },
        asio::detached);
    run_ready(io);
    pass(io, 10ms);
    CHECK_FALSE(done);
    pass(io, 10ms);
    CHECK(done);
}

TEST_CASE("rebind_executor_type_constructed_directly_works") {
    using wheel_type = asio::use_awaitable_t<>::as_default_on_t<manual_timer_wheel>;
    static_assert(std::is_same_v<wheel_type::clock_type, manual_clock>);
    asio::io_context io;
    wheel_type wheel(io, {.tick = 1ms});
    CHECK(wheel.get_executor() == io.get_executor());
    bool done = false;
    co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await wheel.async_wait(1ms);
            done = true;
        },
        asio::detached);
    run_ready(io);
    pass(io, 1ms);
    CHECK(done);
}

TEST_CASE("coroutine_pending_when_the_context_ends_is_destroyed") {
    auto alive = std::make_shared<int>();
    {
        virtual_wheel w;
        co_spawn(
            w.io,
            [&w, alive]() -> asio::awaitable<void> {
                const auto keep = alive;
                co_await w.wheel.async_wait(1h, asio::use_awaitable);
                FAIL_CHECK("resumed");
            },
            asio::detached);
        w.run();
        CHECK(alive.use_count() > 1);
    }
    CHECK(alive.use_count() == 1);
}
