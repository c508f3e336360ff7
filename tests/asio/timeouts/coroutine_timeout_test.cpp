// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// co_await timeout(...) and timeout_scope.
#include "support/asio/scripted_operation.hpp"
#include "support/asio_versions.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel_of.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/multiple_exceptions.hpp>
#include <asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::awaitable;
using asio::use_awaitable;

namespace {

template <class Wheel>
awaitable<std::string> slow(Wheel& wheel, std::chrono::nanoseconds delay, std::string result) {
    co_await wheel.async_wait(delay, use_awaitable);
    co_return result;
}

/// Runs a coroutine to its end, ten milliseconds after ten milliseconds. One function type for all, so that co_spawn()
/// is compiled once.
void run_coroutine(asio::io_context& io, std::function<awaitable<void>()> f) {
    bool done = false;
    asio::co_spawn(io, std::move(f), [&](std::exception_ptr e) {
        CHECK(e == nullptr);
        done = true;
    });
    for (int i = 0; i < 100 && !done; ++i) pass(io, i == 0 ? 0ms : 10ms);
    CHECK(done);
}

/// The error that awaiting `a` throws, if any.
template <class T>
awaitable<std::error_code> error_of(awaitable<T> a) {
    try {
        co_await std::move(a);
    } catch (const std::system_error& e) {
        co_return e.code();
    }
    co_return std::error_code();
}

} // namespace

TEST_CASE_TEMPLATE("value_in_time", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        CHECK(co_await timeout(r.wheel, 50ms, slow(r.wheel, 10ms, "value")) == "value");
        CHECK(co_await timeout(r.wheel, manual_clock::now() + 50ms, slow(r.wheel, 10ms, "at")) == "at");
        CHECK(r.wheel.pending() == 0);
    });
}

TEST_CASE_TEMPLATE("void_in_time_or_too_late", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        const auto pass = [&](std::chrono::nanoseconds delay) -> awaitable<void> {
            co_await r.wheel.async_wait(delay, use_awaitable);
        };
        CHECK_FALSE(co_await error_of(timeout(r.wheel, 50ms, pass(10ms))));
        CHECK(co_await error_of(timeout(r.wheel, 10ms, pass(50ms))) == asio::error::timed_out);
        CHECK(r.wheel.pending() == 0);
    });
}

TEST_CASE_TEMPLATE("too_late_the_coroutine_is_unwound", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    auto alive = std::make_shared<int>();
    run_coroutine(r.io, [&]() -> awaitable<void> {
        const auto inner = [&](std::shared_ptr<int> keep) -> awaitable<int> {
            co_await r.wheel.async_wait(1h, use_awaitable);
            co_return static_cast<int>(keep.use_count());
        };
        CHECK(co_await error_of(timeout(r.wheel, 10ms, inner(alive))) == asio::error::timed_out);
        CHECK(alive.use_count() == 1);
    });
}

TEST_CASE_TEMPLATE("exception_of_the_coroutine_passes_through", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        const auto failing = []() -> awaitable<int> {
            throw std::logic_error("its own");
            co_return 0;
        };
        bool caught = false;
        try {
            co_await timeout(r.wheel, 50ms, failing());
        } catch (const std::logic_error& e) {
            caught = std::string(e.what()) == "its own";
        }
        CHECK(caught);
        CHECK(r.wheel.pending() == 0);
    });
}

TEST_CASE_TEMPLATE("coroutine_that_handles_the_cancellation_keeps_its_value", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        const auto stubborn = [&]() -> awaitable<std::string> {
            const auto ec = co_await error_of(slow(r.wheel, 1h, ""));
            CHECK(ec == asio::error::operation_aborted);
            co_return "half";
        };
        CHECK(co_await timeout(r.wheel, 10ms, stubborn()) == "half");
    });
}

TEST_CASE_TEMPLATE("nested_the_shorter_wins", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        std::error_code inside;
        const auto middle = [&](std::chrono::nanoseconds limit) -> awaitable<int> {
            inside = co_await error_of(timeout(r.wheel, limit, slow(r.wheel, 1h, "")));
            co_return 1;
        };
        // The inner limit: the outer one hears of nothing.
        CHECK_FALSE(co_await error_of(timeout(r.wheel, 50ms, middle(10ms))));
        CHECK(inside == asio::error::timed_out);
        // The outer limit: inside that is a cancellation, not a timeout.
        CHECK(co_await timeout(r.wheel, 10ms, middle(50ms)) == 1);
        CHECK(inside == asio::error::operation_aborted);
        // Neither handled in between.
        CHECK(co_await error_of(timeout(r.wheel, 10ms, timeout(r.wheel, 50ms, slow(r.wheel, 1h, "")))) ==
              asio::error::timed_out);
        CHECK(co_await error_of(timeout(r.wheel, 50ms, timeout(r.wheel, 10ms, slow(r.wheel, 1h, "")))) ==
              asio::error::timed_out);
        CHECK(r.wheel.pending() == 0);
    });
}

TEST_CASE_TEMPLATE("cancelled_from_outside_is_not_timed_out", Wheel, BOTH_WHEELS) {
    using namespace asio::experimental::awaitable_operators;
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        std::error_code inside;
        const auto limited = [&]() -> awaitable<void> {
            inside = co_await error_of(timeout(r.wheel, 1h, slow(r.wheel, 2h, "")));
        };
        co_await (limited() || slow(r.wheel, 10ms, ""));
        CHECK(inside == asio::error::operation_aborted);
        CHECK(r.wheel.pending() == 0);
    });
}

namespace {

/// Lets signals of these types through.
struct let_through {
    asio::cancellation_type mask;
    asio::cancellation_type operator()(asio::cancellation_type type) const { return type & mask; }
};

} // namespace

TEST_CASE_TEMPLATE("cancellation_from_outside_arrives_as_without_a_timeout", Wheel, BOTH_WHEELS) {
    using asio::cancellation_type;
    for (const auto mask : {cancellation_type::none, cancellation_type::terminal,
                            cancellation_type::terminal | cancellation_type::partial, cancellation_type::all})
        for (const auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total,
                                cancellation_type::partial | cancellation_type::total})
            for (const std::string_view form : {"plain", "timeout", "scope", "timeout in a scope"}) {
                CAPTURE(static_cast<unsigned>(mask));
                CAPTURE(static_cast<unsigned>(type));
                CAPTURE(form.data());
                timeout_rig<Wheel> r;
                const timeout_scope<Wheel> within(r.wheel, 1h);
                asio::cancellation_signal signal;
                bool done = false;
                const auto inner = [&]() -> awaitable<std::size_t> {
                    const auto result = co_await r.read.async_run(as_tuple(use_awaitable));
                    const auto state = co_await asio::this_coro::cancellation_state;
                    CHECK(state.cancelled() == (type & mask));
                    co_return std::get<1>(result);
                };
                const auto outer = [&]() -> awaitable<void> {
                    co_await asio::this_coro::throw_if_cancelled(false);
                    co_await asio::this_coro::reset_cancellation_state(let_through{mask});
                    if (form == "plain") CHECK(co_await inner() == 0);
                    if (form == "timeout") CHECK(co_await timeout(r.wheel, 1h, inner()) == 0);
                    if (form == "scope") CHECK(co_await within(inner()) == 0);
                    if (form == "timeout in a scope") CHECK(co_await within(timeout(r.wheel, 1h, inner())) == 0);
                    done = true;
                };
                asio::co_spawn(r.io, outer, asio::bind_cancellation_slot(signal.slot(), asio::detached));
                r.run();
                signal.emit(type);
                r.run();
                if ((type & mask) == cancellation_type::none) {
                    CHECK(r.read.cancelled.empty());
                    r.read.complete({}, 0);
                    r.run();
                } else {
                    CHECK(r.read.cancelled == std::vector{type & mask});
                }
                CHECK(done);
                CHECK(r.wheel.pending() == 0);
            }
}

TEST_CASE_TEMPLATE("several_operations_at_once_time_out_as_one_does", Wheel, BOTH_WHEELS) {
    using namespace asio::experimental::awaitable_operators;
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        const auto long_one = [&] { return slow(r.wheel, 1h, ""); };
        const auto timed_out = std::error_code(asio::error::timed_out);
        CHECK(co_await error_of(timeout(r.wheel, 10ms, long_one() && long_one())) == timed_out);
        CHECK(co_await error_of(timeout(r.wheel, 10ms, long_one() || long_one())) == timed_out);
        CHECK(co_await error_of(timeout(r.wheel, 10ms, (long_one() && long_one()) || long_one())) == timed_out);
        const timeout_scope<Wheel> limit(r.wheel, 10ms);
        CHECK(co_await error_of(limit(long_one() && long_one())) == timed_out);
        CHECK(co_await error_of(limit(long_one() || long_one())) == timed_out);
        // Errors of their own reach the caller as they are.
        const auto failing = [&]() -> awaitable<int> {
            co_await slow(r.wheel, 10ms, "");
            throw std::system_error(make_error_code(std::errc::broken_pipe));
        };
        bool several = false;
        try {
            co_await timeout(r.wheel, 50ms, failing() || failing());
        } catch (const asio::multiple_exceptions&) {
            several = true;
        }
        CHECK(several);
        CHECK(r.wheel.pending() == 0);
    });
}

TEST_CASE_TEMPLATE("wheel_stopped_the_coroutine_is_not_started", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    r.wheel.stop();
    bool started = false;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        const auto inner = [&]() -> awaitable<int> {
            started = true;
            co_return 0;
        };
        CHECK(co_await error_of(timeout(r.wheel, 10ms, inner())) == errc::stopped);
    });
    CHECK_FALSE(started);
}

TEST_CASE_TEMPLATE("context_ends_while_awaited", Wheel, BOTH_WHEELS) {
    auto alive = std::make_shared<int>();
    {
        timeout_rig<Wheel> r;
        asio::co_spawn(
            r.io,
            [&r, alive]() -> awaitable<void> {
                const auto keep = alive;
                co_await timeout(r.wheel, 1h, timeout(r.wheel, 2h, slow(r.wheel, 3h, "")));
                FAIL_CHECK("resumed");
            },
            asio::detached);
        r.run();
        CHECK(alive.use_count() > 1);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("scope_deadline_bounds_all_that_is_awaited", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    run_coroutine(r.io, [&]() -> awaitable<void> {
        const timeout_scope<Wheel> limit(r.wheel, 55ms);
        CHECK(limit.remaining() == 55ms);
        CHECK(r.wheel.pending() == 0); // no timer while nothing is awaited
        co_await r.wheel.async_wait(20ms, limit(use_awaitable));
        CHECK(co_await limit(slow(r.wheel, 10ms, "value")) == "value");
        CHECK_FALSE(limit.expired());
        CHECK(limit.remaining() < 55ms);
        CHECK(co_await error_of(limit(slow(r.wheel, 1h, ""))) == asio::error::timed_out);
        CHECK(limit.expired());
        CHECK(limit.remaining() == 0ns);
        // What is started too late is cancelled at once.
        CHECK(co_await error_of(limit(slow(r.wheel, 1h, ""))) == asio::error::timed_out);
        CHECK(co_await error_of(r.wheel.async_wait(1h, limit(use_awaitable))) == asio::error::timed_out);
        CHECK(r.wheel.pending() == 0);
    });
}

TEST_CASE("scope_without_a_wheel_uses_that_of_the_context") {
    asio::io_context io;
    timer_wheel& wheel = make_timer_wheel_of(io, {.tick = 10ms});
    std::error_code ec;
    asio::steady_timer timer(io, 1h);
    SUBCASE("timeout") {
        timer.async_wait(timeout_scope(-1s)([&](std::error_code e) { ec = e; }));
    }
    SUBCASE("abandon") {
        timer.async_wait(timeout_scope(-1s).abandon([&](std::error_code e) { ec = e, timer.cancel(); }));
    }
    io.run();
    CHECK(ec == asio::error::timed_out);
    CHECK(wheel.stats().scheduled == 1);
    CHECK(wheel.stats().fired == 1);
}

TEST_CASE_TEMPLATE("awaited_with_nothrow_a_timeout_is_an_empty_result", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    const auto nothing = [&](std::chrono::nanoseconds delay) -> awaitable<void> {
        co_await r.wheel.async_wait(delay, use_awaitable);
    };
    const auto fails = []() -> awaitable<int> {
        throw std::system_error(asio::error::eof);
        co_return 0;
    };
    run_coroutine(r.io, [&]() -> awaitable<void> {
        // Outside of the macros: g++ 14 finds no types in them.
        const auto value = co_await timeout(r.wheel, 20ms, std::nothrow, slow(r.wheel, 10ms, "value"));
        CHECK(value == "value");
        const auto none = co_await timeout(r.wheel, 20ms, std::nothrow, slow(r.wheel, 1h, "value"));
        CHECK_FALSE(none.has_value());
        const bool in_time = co_await timeout(r.wheel, manual_clock::now() + 20ms, std::nothrow, nothing(10ms));
        CHECK(in_time);
        const bool too_late = co_await timeout(r.wheel, manual_clock::now() + 20ms, std::nothrow, nothing(1h));
        CHECK_FALSE(too_late);
        const std::error_code failure = co_await error_of(timeout(r.wheel, 20ms, std::nothrow, fails()));
        CHECK(failure == asio::error::eof);
        const timeout_scope limit(r.wheel, 30ms);
        const bool within = co_await limit(std::nothrow, nothing(10ms));
        CHECK(within);
        const auto beyond = co_await limit(std::nothrow, slow(r.wheel, 1h, ""));
        CHECK_FALSE(beyond.has_value());
        CHECK(limit.expired());
        CHECK(r.wheel.pending() == 0);
    });
}

TEST_CASE("scope_without_a_wheel_is_for_timer_wheels") {
    asio::io_context io;
    bool done = false;
    const auto wait = [&]() -> awaitable<void> {
        const timeout_scope limit(1h);
        static_assert(std::is_same_v<decltype(limit), const timeout_scope<>>);
        asio::steady_timer timer(io, 0s);
        co_await timer.async_wait(limit(use_awaitable));
        const timeout_scope until(std::chrono::steady_clock::now());
        CHECK(until.expired());
    };
    asio::co_spawn(io, wait, [&](std::exception_ptr e) {
        CHECK(e == nullptr);
        done = true;
    });
    io.run();
    CHECK(done);
    CHECK(timer_wheel_of(io).stats().cancelled == 1);
}

TEST_CASE("scope_that_is_not_called_is_no_handler") {
    using scope = timeout_scope<>;
    static_assert(std::invocable<const scope&, asio::use_awaitable_t<>>);
    static_assert(!std::invocable<const scope&, std::error_code> && !std::invocable<const scope&, std::exception_ptr>);
}
