// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits in coroutines: awaited, raced, joined, with default tokens and other executor types.
#include "support/asio/every_wait.hpp"
#include "support/asio_versions.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

namespace {

template <class W>
asio::awaitable<void> wait(W& w, std::chrono::nanoseconds delay, int& done) {
    co_await w.wait(delay, asio::use_awaitable);
    ++done;
}

// By a function of one type, so that co_spawn() is compiled once.
void spawn(asio::io_context& io, std::function<asio::awaitable<void>()> f) {
    co_spawn(io, std::move(f), [](std::exception_ptr e) { CHECK(e == nullptr); });
}

} // namespace

TEST_CASE_TEMPLATE("use_awaitable_resumes_after_the_delay", W, EVERY_WAIT) {
    W w;
    int done = 0;
    const auto thrice = [&]() -> asio::awaitable<void> {
        co_await wait(w, 10ms, done);
        co_await wait(w, 0ms, done);
        co_await wait(w, 20ms, done);
    };
    spawn(w.io, thrice);
    w.run();
    CHECK(done == 0);
    w.pass(10ms);
    CHECK(done == 2);
    w.pass(19ms);
    CHECK(done == 2);
    w.pass(1ms);
    CHECK(done == 3);
}

TEST_CASE_TEMPLATE("use_awaitable_aborted_throws_operation_aborted", W, EVERY_WAIT) {
    W w;
    std::error_code thrown;
    const auto once = [&]() -> asio::awaitable<void> {
        try {
            co_await w.wait(1h, asio::use_awaitable);
        } catch (const std::system_error& e) {
            thrown = e.code();
        }
    };
    spawn(w.io, once);
    w.run();
    w.wheel.cancel_all();
    w.run();
    CHECK(thrown == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("redirect_error_and_as_tuple_aborted_do_not_throw", W, EVERY_WAIT) {
    W w;
    int aborted = 0;
    const auto twice = [&]() -> asio::awaitable<void> {
        std::error_code ec;
        co_await w.wait(1h, asio::redirect_error(asio::use_awaitable, ec));
        aborted += ec == asio::error::operation_aborted;
        const auto [second] = co_await w.wait(1h, as_tuple(asio::use_awaitable));
        aborted += second == asio::error::operation_aborted;
    };
    spawn(w.io, twice);
    for (int i = 0; i < 2; ++i) {
        w.run();
        w.wheel.cancel_all();
    }
    w.run();
    CHECK(aborted == 2);
}

TEST_CASE_TEMPLATE("or_operator_first_wins_loser_leaves_the_wheel", W, EVERY_WAIT) {
    W w;
    int slow = 0, fast = 0, rounds = 0;
    const auto race = [&]() -> asio::awaitable<void> {
        for (; rounds < 10; ++rounds) {
            const auto result = co_await (wait(w, 1h, slow) || wait(w, 10ms, fast));
            CHECK(result.index() == 1);
        }
    };
    spawn(w.io, race);
    w.run();
    CHECK(w.wheel.pending() == 2);
    for (int i = 0; i < 10; ++i) w.pass(10ms);
    CHECK(rounds == 10);
    CHECK(fast == 10);
    CHECK(slow == 0);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.stats().cancelled == 10);
}

TEST_CASE_TEMPLATE("and_operator_waits_for_both", W, EVERY_WAIT) {
    W w;
    int first = 0, second = 0, joined = 0;
    const auto join = [&]() -> asio::awaitable<void> {
        co_await (wait(w, 30ms, first) && wait(w, 10ms, second));
        ++joined;
    };
    spawn(w.io, join);
    w.run();
    w.pass(10ms);
    CHECK(second == 1);
    CHECK(joined == 0);
    w.pass(20ms);
    CHECK(first == 1);
    CHECK(joined == 1);
}

TEST_CASE_TEMPLATE("coroutine_awaits_when_the_context_ends_its_frame_is_destroyed", W, EVERY_WAIT) {
    const auto alive = std::make_shared<int>();
    {
        W w;
        const auto forever = [](W& bench, std::shared_ptr<int>) -> asio::awaitable<void> {
            co_await bench.wait(1h, asio::use_awaitable);
            FAIL("resumed");
        };
        co_spawn(w.io, forever(w, alive), asio::detached);
        w.run();
        CHECK(alive.use_count() > 1);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("as_default_on_token_may_be_left_out", T, EVERY_TIMER) {
    T w;
    using token = asio::use_awaitable_t<>;
    auto wheel = token::as_default_on(typename T::wheel_type(w.io));
    auto timer = token::as_default_on(typename T::timer_type(w.wheel, 10ms));
    static_assert(!std::is_same_v<decltype(timer), typename T::timer_type>);
    typename decltype(timer)::wheel_type same_kind(w.io);
    timer_on<decltype(same_kind)> made_there(same_kind, 10ms);
    int done = 0;
    const auto all = [&]() -> asio::awaitable<void> {
        co_await timer.async_wait();
        ++done;
        co_await wheel.async_wait(10ms);
        ++done;
        made_there.expires_after(10ms);
        co_await made_there.async_wait();
        ++done;
    };
    spawn(w.io, all);
    w.run();
    for (int i = 1; i <= 3; ++i) {
        CHECK(done == i - 1);
        w.pass(10ms);
    }
    CHECK(done == 3);
}

TEST_CASE_TEMPLATE("rebind_executor_another_type_moved_into_with_waits_pending", T, EVERY_TIMER) {
    T w;
    using concrete = typename T::wheel_type::template rebind_executor<asio::io_context::executor_type>::other;
    using concrete_timer = typename T::timer_type::template rebind_executor<asio::io_context::executor_type>::other;
    static_assert(std::is_same_v<concrete_timer, timer_on<concrete>>);
    concrete wheel(w.io);
    concrete_timer timer(wheel, 10ms);
    int done = 0;
    timer.async_wait([&](std::error_code ec) { done += !ec; });
    typename T::timer_type erased(std::move(timer)); // to any_io_executor, the wait in tow
    erased.async_wait([&](std::error_code ec) { done += !ec; });
    CHECK(erased.get_executor() == asio::any_io_executor(w.io.get_executor()));
    CHECK(wheel.pending() == 1);
    w.pass(10ms);
    CHECK(done == 2);
    typename T::timer_type from_other_type(wheel, 10ms);
    from_other_type.async_wait([&](std::error_code ec) { done += !ec; });
    w.pass(10ms);
    CHECK(done == 3);
}

#if ASIO_VERSION >= 103100
TEST_CASE_TEMPLATE("default_token_omitted_or_left_to_an_adapter_is_deferred", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    int done = 0;
    const auto all = [&]() -> asio::awaitable<void> {
        co_await timer.async_wait();
        ++done;
        co_await w.wheel.async_wait(10ms);
        ++done;
        const auto [ec] = co_await w.wheel.async_wait(10ms, asio::as_tuple);
        done += !ec;
    };
    spawn(w.io, all);
    w.run();
    w.pass(10ms);
    CHECK(done == 1);
    w.pass(10ms);
    CHECK(done == 2);
    w.pass(10ms);
    CHECK(done == 3);
}
#endif
