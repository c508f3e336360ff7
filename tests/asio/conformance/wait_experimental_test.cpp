// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits and timeouts with what Asio calls experimental: coro, promise, co_composed, channel.
#include "support/asio/every_wait.hpp"
#include "support/asio_versions.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/co_spawn.hpp>
#include <asio/experimental/coro.hpp>
#include <asio/experimental/promise.hpp>
#include <asio/experimental/use_coro.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <optional>
#include <vector>

#if __has_include(<asio/experimental/use_promise.hpp>)
#include <asio/experimental/use_promise.hpp>
#endif
#if ASIO_VERSION >= 102700 && defined(__clang__) // g++ 12 does not compile it
#include <asio/experimental/co_composed.hpp>
#endif

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::experimental::coro;
using asio::experimental::use_coro;
using asio::experimental::use_promise;

namespace {

/// Yields the number of each wait that has ended.
template <class W>
coro<int> number_waits(asio::io_context&, W& w) {
    for (int i = 1;; ++i) {
        co_await w.wait(10ms, use_coro);
        co_yield i;
    }
}

// The coro of Asio 1.30 and 1.36 does not tell the error of an operation, not even that of a steady_timer.
constexpr bool coro_tells_errors = ASIO_VERSION < 102300;

/// Returns how a wait ended, one with a timeout if that is asked for.
template <class W>
coro<void, std::error_code> end_of_wait(asio::io_context&, W& w, bool limited) {
    try {
        if (limited)
            co_await w.wait(1h, timeout(w.wheel, 10ms, use_coro));
        else
            co_await w.wait(1h, use_coro);
    } catch (const std::system_error& e) {
        co_return e.code();
    }
    co_return std::error_code();
}

/// Asks a promise for its result. The function has a name in some releases of Asio only.
template <class Promise, class Handler>
void ask(Promise& promise, Handler handler) {
    if constexpr (requires { promise.async_wait(std::move(handler)); })
        promise.async_wait(std::move(handler));
    else
        promise(std::move(handler));
}

struct end_log {
    std::vector<std::error_code> ends;

    auto note_coro() {
        return [this](const std::exception_ptr& failure, std::error_code ec) {
            CHECK(!failure);
            ends.push_back(ec);
        };
    }
    auto note() {
        return [this](std::error_code ec) { ends.push_back(ec); };
    }
};

} // namespace

TEST_CASE_TEMPLATE("coro_awaits_waits_and_yields", W, EVERY_WAIT) {
    W w;
    coro<int> numbers = number_waits(w.io, w);
    std::vector<int> seen;
    for (int i = 0; i < 3; ++i) {
        numbers.async_resume([&](const std::exception_ptr& failure, std::optional<int> n) {
            CHECK(!failure);
            seen.push_back(n.value());
        });
        w.run();
        CHECK(w.wheel.pending() == 1);
        w.pass(10ms);
    }
    CHECK(seen == std::vector{1, 2, 3});
}

TEST_CASE_TEMPLATE("coro_wait_aborted_or_timed_out", W, EVERY_WAIT) {
    W w;
    end_log log;
    coro<void, std::error_code> waits = end_of_wait(w.io, w, false), limited = end_of_wait(w.io, w, true);
    waits.async_resume(log.note_coro());
    limited.async_resume(log.note_coro());
    w.run();
    w.pass(10ms);
    CHECK(log.ends.size() == 1);
    if (coro_tells_errors) CHECK(log.ends.back() == asio::error::timed_out);
    w.wheel.cancel_all();
    w.run();
    CHECK(log.ends.size() == 2);
    if (coro_tells_errors) CHECK(log.ends.back() == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("coro_cancelled_takes_its_timer_out_of_the_wheel", W, EVERY_WAIT) {
    W w;
    end_log log;
    asio::cancellation_signal stop;
    coro<void, std::error_code> waits = end_of_wait(w.io, w, false);
    waits.async_resume(asio::bind_cancellation_slot(stop.slot(), log.note_coro()));
    w.run();
    stop.emit(asio::cancellation_type::terminal);
    w.run();
    CHECK(log.ends.size() == 1);
    if (coro_tells_errors) CHECK(log.ends.back() == asio::error::operation_aborted);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("promise_holds_the_end_of_a_wait", W, EVERY_WAIT) {
    W w;
    end_log log;
    auto early = w.wait(10ms, use_promise);
    auto late = w.wait(1h, timeout(w.wheel, 20ms, use_promise));
    w.pass(10ms); // before anybody asks
    CHECK(w.wheel.stats().fired == 1);
    ask(early, log.note());
    ask(late, log.note());
    w.pass(10ms);
    CHECK(log.ends == std::vector<std::error_code>{{}, asio::error::timed_out});
}

TEST_CASE_TEMPLATE("promise_destroyed_or_cancelled_ends_the_wait", W, EVERY_WAIT) {
    W w;
    {
        auto forgotten = w.wait(1h, use_promise);
        CHECK(w.wheel.pending() == 1);
    }
    w.run();
    CHECK(w.wheel.pending() == 0);
    end_log log;
    auto stopped = w.wait(1h, use_promise);
    ask(stopped, log.note());
    stopped.cancel();
    w.run();
    CHECK(log.ends == std::vector{std::error_code(asio::error::operation_aborted)});
}

TEST_CASE_TEMPLATE("channel_takes_the_end_of_a_wait_and_a_timeout_ends_a_receive", W, EVERY_WAIT) {
    W w;
    end_log log;
    asio::experimental::channel<void(std::error_code, int)> ends(w.io, 1);
    w.wait(20ms, [&](std::error_code ec) { CHECK(ends.try_send(ec, 1)); });
    const auto note = [&](std::error_code ec, int) { log.ends.push_back(ec); };
    ends.async_receive(timeout(w.wheel, 10ms, note));
    w.pass(10ms);
    CHECK(log.ends == std::vector{std::error_code(asio::error::timed_out)});
    ends.async_receive(timeout(w.wheel, 30ms, note));
    w.pass(10ms);
    CHECK(log.ends.back() == std::error_code());
    CHECK(w.wheel.pending() == 0);
}

#if ASIO_VERSION >= 102700 && defined(__clang__)
namespace {

/// Waits `times` times, each for 10 ms: an operation of the user's own.
template <class W, class Token>
auto async_wait_often(W& w, int times, Token&& token) {
    return asio::async_initiate<Token, void(std::error_code)>(
        asio::experimental::co_composed<void(std::error_code)>(
            [](auto state, W& bench, int left) -> void {
                state.reset_cancellation_state(asio::enable_terminal_cancellation());
                for (; left > 0; --left) {
                    const auto [ec] = co_await bench.wait(10ms, asio::as_tuple(asio::deferred));
                    if (ec) co_return {ec};
                }
                co_return {std::error_code()};
            },
            w.io),
        token, std::ref(w), times);
}

} // namespace

TEST_CASE_TEMPLATE("co_composed_operation_waits_is_limited_and_cancelled", W, EVERY_WAIT) {
    W w;
    end_log log;
    async_wait_often(w, 3, log.note());
    async_wait_often(w, 100, timeout(w.wheel, 50ms, log.note()));
    for (int i = 0; i < 3; ++i) w.pass(10ms);
    CHECK(log.ends == std::vector{std::error_code()});
    for (int i = 0; i < 2; ++i) w.pass(10ms);
    CHECK(log.ends.back() == asio::error::timed_out);
    asio::cancellation_signal stop;
    async_wait_often(w, 100, asio::bind_cancellation_slot(stop.slot(), log.note()));
    w.pass(10ms);
    stop.emit(asio::cancellation_type::terminal);
    w.run();
    CHECK(log.ends.back() == asio::error::operation_aborted);
    CHECK(log.ends.size() == 3);
    CHECK(w.wheel.pending() == 0);
}
#endif
