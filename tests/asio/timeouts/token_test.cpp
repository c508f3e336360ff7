// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A limit around each kind of completion token, and a limit that stands for the default one.
#include "support/asio/scripted_operation.hpp"
#include "support/asio_versions.hpp"

#include <cogwheel/detail/platform.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <doctest/doctest.h>

#include <functional>

#if !COGWHEEL_WINDOWS && !defined(NDEBUG)
#include "support/forked.hpp"
#endif

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("handler_as_lvalue_reference_wrapper_or_function", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    const auto handler = result.handler();
    std::function<void(std::error_code, std::size_t)> function = handler;
    const auto limited = timeout(r.wheel, 10ms, handler); // used twice
    r.read.async_run(limited);
    r.pass(20ms);
    r.read.async_run(limited);
    r.pass(20ms);
    r.read.async_run(timeout(r.wheel, 10ms, by_reference(handler)));
    r.pass(20ms);
    r.read.async_run(timeout(r.wheel, 10ms, function));
    r.pass(20ms);
    CHECK(result.times == 4);
    CHECK(result.ec == asio::error::timed_out);
}

TEST_CASE_TEMPLATE("use_future", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    auto value = r.read.async_run(timeout(r.wheel, 10ms, asio::use_future));
    r.read.complete({}, 5);
    r.run();
    CHECK(value.get() == 5);
    auto late = r.read.async_run(timeout(r.wheel, 10ms, asio::use_future));
    r.pass(20ms);
    try {
        late.get();
        FAIL_CHECK("in time");
    } catch (const std::system_error& e) {
        CHECK(e.code() == asio::error::timed_out);
    }
}

TEST_CASE_TEMPLATE("use_awaitable_as_tuple_and_redirect_error", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    int late = 0;
    asio::co_spawn(
        r.io,
        [&]() -> asio::awaitable<void> {
            try {
                co_await r.read.async_run(timeout(r.wheel, 10ms, asio::use_awaitable));
            } catch (const std::system_error& e) {
                late += e.code() == asio::error::timed_out;
            }
            std::error_code ec;
            co_await r.read.async_run(timeout(r.wheel, 10ms, asio::redirect_error(asio::use_awaitable, ec)));
            late += ec == asio::error::timed_out;
            // either inside out
            const auto [first, n] = co_await r.read.async_run(timeout(r.wheel, 10ms, as_tuple(asio::use_awaitable)));
            late += first == asio::error::timed_out;
            const auto [second, m] = co_await r.read.async_run(as_tuple(timeout(r.wheel, 10ms, asio::use_awaitable)));
            late += second == asio::error::timed_out;
        },
        asio::detached);
    for (int i = 0; i < 6; ++i) r.pass(20ms);
    CHECK(late == 4);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("deferred_the_limit_counts_from_the_call", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    auto op = r.read.async_run(timeout(r.wheel, 10ms, deferred));
    CHECK(r.read.started == 0);
    CHECK(r.wheel.pending() == 0);
    r.pass(1h);
    std::move(op)(result.handler());
    CHECK(r.wheel.pending() == 1);
    r.pass(5ms);
    CHECK(result.times == 0);
    r.pass(15ms);
    CHECK(result.ec == asio::error::timed_out);
}

TEST_CASE_TEMPLATE("partial_called_with_a_token", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    const auto at = manual_clock::now() + 10ms;
    for (int round = 0; round < 2; ++round) {
        r.read.async_run(timeout(r.wheel, 10ms)(result.handler()));
        r.pass(20ms);
        CHECK(result.ec == asio::error::timed_out);
        r.read.async_run(timeout(r.wheel, 10ms, cogwheel::timeout_options{.own_error = true})(result.handler()));
        r.pass(20ms);
        CHECK(result.ec == asio::error::operation_aborted);
        r.read.async_run(timeout(r.wheel, at)(result.handler()));
        r.pass(20ms);
        CHECK(result.ec == asio::error::timed_out);
        r.read.async_run(timeout(r.wheel, at, cogwheel::timeout_options{.own_error = true})(result.handler()));
        r.pass(20ms);
        CHECK(result.ec == asio::error::operation_aborted);
    }
    CHECK(result.times == 8);
}

TEST_CASE_TEMPLATE("partial_stands_for_the_default_token_of_the_io_object", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    using timer_type = asio::use_awaitable_t<>::as_default_on_t<asio::steady_timer>;
    using acceptor_type = asio::use_awaitable_t<>::as_default_on_t<asio::ip::tcp::acceptor>;
    timer_type timer(r.io, 1h);
    acceptor_type acceptor(r.io, {asio::ip::address_v4::loopback(), 0});
    asio::ip::tcp::socket peer(r.io);
    auto waits = asio::use_awaitable.as_default_on(Wheel(r.io));
    int late = 0, aborted = 0;
    asio::co_spawn(
        r.io,
        [&]() -> asio::awaitable<void> {
            const auto code = [&](const std::system_error& e) {
                late += e.code() == asio::error::timed_out;
                aborted += e.code() == asio::error::operation_aborted;
            };
            try {
                co_await timer.async_wait(timeout(r.wheel, 10ms));
            } catch (const std::system_error& e) {
                code(e);
            }
            try {
                co_await acceptor.async_accept(peer,
                                               timeout(r.wheel, 10ms, cogwheel::timeout_options{.own_error = true}));
            } catch (const std::system_error& e) {
                code(e);
            }
            try {
                co_await waits.async_wait(1h, timeout(r.wheel, manual_clock::now() + 10ms));
            } catch (const std::system_error& e) {
                code(e);
            }
        },
        asio::detached);
    for (int i = 0; i < 6; ++i) r.pass(20ms);
    CHECK(late == 2);
    CHECK(aborted == 1);
    CHECK(r.wheel.pending() == 0);
}

#if !COGWHEEL_WINDOWS && !defined(NDEBUG)

TEST_CASE("type_that_never_cancels_debug_builds_stop") {
    timeout_rig<manual_timer_wheel> r;
    const auto result_of = [](auto call) {
        return forked([&] {
                   std::signal(SIGABRT, SIG_DFL); // doctest has one of its own
                   ::close(STDERR_FILENO);
                   call();
                   return true;
               })
            .result();
    };
    const auto none = asio::cancellation_type::none, total = asio::cancellation_type::total;
    CHECK(result_of([&] { timeout(r.wheel, 1h, timeout_options{.type = total}); }) == 0);
    CHECK(result_of([&] { timeout(r.wheel, 1h, timeout_options{.type = none}); }) == 256 + SIGABRT);
    CHECK(result_of([&] {
              timeout(r.wheel, manual_clock::now(), {.type = none, .own_error = true}, asio::detached);
          }) == 256 + SIGABRT);
    CHECK(result_of([&] { timeout<manual_timer_wheel>(1h, {.type = none}, asio::detached); }) == 256 + SIGABRT);
}

#endif
