// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timeouts and timer objects that name no wheel.
#include "support/asio/scripted_operation.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel_of.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <string>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using manual = manual_timer_wheel;
using manual_timer = basic_wheel_timer<testing::manual_timer_wheel>;
using read_operation = scripted_operation<void(std::error_code, std::size_t)>;

// An operation that completes with operation_aborted when it is cancelled.
struct context_rig {
    asio::io_context io;
    read_operation read{io.get_executor()};
    std::error_code ec;
    int completed = 0;

    context_rig() {
        read.on_cancel = [this](auto) { read.complete(asio::error::operation_aborted, 0); };
    }
    auto handler() {
        return [this](std::error_code e, std::size_t) {
            ec = e;
            ++completed;
        };
    }
    const manual& wheel() { return timer_wheel_of<manual>(io); }
};

} // namespace

TEST_CASE("timeout_without_a_wheel_uses_that_of_the_operations_context") {
    context_rig r;
    r.read.async_run(timeout<manual>(10ms, r.handler()));
    CHECK(r.wheel().pending() == 1);
    pass(r.io, 30ms);
    CHECK(r.ec == asio::error::timed_out);
    CHECK(r.completed == 1);

    r.read.async_run(timeout<manual>(10ms, {.own_error = true}, r.handler()));
    pass(r.io, 30ms);
    CHECK(r.ec == asio::error::operation_aborted);

    r.read.async_run(timeout<manual>(manual_clock::now() + 10ms, r.handler()));
    CHECK(r.wheel().pending() == 1);
    r.read.complete({}, 1);
    pass(r.io, 0ms);
    CHECK_FALSE(r.ec);
    CHECK(r.wheel().pending() == 0);

    r.read.async_run(timeout<manual>(manual_clock::now() + 10ms,
                                     {.type = asio::cancellation_type::partial, .own_error = true}, r.handler()));
    pass(r.io, 30ms);
    CHECK(r.ec == asio::error::operation_aborted);
    CHECK(r.read.cancelled.back() == asio::cancellation_type::partial);
    CHECK(r.completed == 4);
}

TEST_CASE("timeout_without_a_wheel_takes_the_operations_context_not_the_handlers") {
    context_rig r;
    asio::io_context other;
    r.read.async_run(timeout<manual>(10ms, asio::bind_executor(other.get_executor(), r.handler())));
    CHECK(r.wheel().pending() == 1);
    CHECK(timer_wheel_of<manual>(other).pending() == 0);
    pass(r.io, 30ms);
    run_ready(other);
    CHECK(r.ec == asio::error::timed_out);
}

TEST_CASE("timeout_without_a_wheel_on_a_wheel_without_room_does_not_start_the_operation") {
    context_rig r;
    make_timer_wheel_of<manual>(r.io, {.max_pending = 1});
    r.wheel().schedule(1h, [] {});
    r.read.async_run(timeout<manual>(10ms, r.handler()));
    run_ready(r.io);
    CHECK(r.read.started == 0);
    CHECK(r.ec == errc::too_many_timers);
}

TEST_CASE("timeout_without_a_wheel_as_the_default_token_of_a_socket") {
    asio::io_context io;
    using socket_type = asio::use_awaitable_t<>::as_default_on_t<asio::ip::tcp::socket>;
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    socket_type client(io);
    std::error_code result;
    co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await client.async_connect(acceptor.local_endpoint(), timeout<manual>(1s));
            char byte = 0;
            co_await client.async_read_some(asio::buffer(&byte, 1), timeout<manual>(1s));
        },
        [&](std::exception_ptr e) {
            try {
                if (e) std::rethrow_exception(e);
            } catch (const std::system_error& error) {
                result = error.code();
            }
        });
    while (timer_wheel_of<manual>(io).stats().scheduled < 2) io.run_one();
    pass(io, 2s);
    while (!result) io.run_one();
    CHECK(result == asio::error::timed_out);
}

TEST_CASE("timeout_of_a_coroutine_without_a_wheel") {
    asio::io_context io;
    const auto strand = asio::make_strand(io);
    std::error_code result;
    const auto forever = [&]() -> asio::awaitable<void> {
        co_await timer_wheel_of<manual>(strand).async_wait(1h, asio::use_awaitable);
    };
    co_spawn(
        strand,
        [&]() -> asio::awaitable<void> {
            try {
                co_await timeout<manual>(10ms, forever());
            } catch (const std::system_error& error) {
                result = error.code();
            }
            CHECK(result == asio::error::timed_out);
            result.clear();
            try {
                co_await timeout<manual>(manual_clock::now() + 10ms, forever());
            } catch (const std::system_error& error) {
                result = error.code();
            }
        },
        asio::detached);
    run_ready(io);
    pass(io, 30ms);
    pass(io, 30ms);
    CHECK(result == asio::error::timed_out);
    CHECK(timer_wheel_of<manual>(io).pending() == 0);
}

TEST_CASE("timer_of_an_executor_is_on_the_wheel_of_its_context") {
    asio::io_context io;
    const auto strand = asio::make_strand(io);
    manual_timer timer(strand, 10ms);
    CHECK(timer.get_executor() == strand);
    int waits = 0;
    timer.async_wait([&](std::error_code ec) {
        CHECK_FALSE(ec);
        CHECK(strand.running_in_this_thread());
        ++waits;
    });
    manual_timer on_context(io, manual_clock::now() + 10ms);
    on_context.async_wait([&](std::error_code) {
        CHECK_FALSE(strand.running_in_this_thread());
        ++waits;
    });
    CHECK(timer_wheel_of<manual>(io).pending() == 2);
    pass(io, 30ms);
    CHECK(waits == 2);
    manual_timer plain(io);
    manual_timer same(io.get_executor());
    manual_timer at(io.get_executor(), manual_clock::now());
    CHECK(plain.expiry() == manual_timer::time_point());
}

TEST_CASE("timer_with_an_executor_of_its_own_keeps_it_when_moved") {
    asio::io_context io;
    manual wheel(io);
    const auto strand = asio::make_strand(io);
    int waits = 0;
    const auto expect_strand = [&](std::error_code) {
        CHECK(strand.running_in_this_thread());
        ++waits;
    };
    manual_timer timer(wheel, strand, 10ms);
    CHECK(timer.get_executor() == strand);
    timer.async_wait(expect_strand);
    manual_timer moved(std::move(timer));
    moved.async_wait(expect_strand);
    manual_timer assigned(wheel);
    assigned = std::move(moved);
    CHECK(assigned.get_executor() == strand);
    assigned.async_wait(expect_strand);
    assigned.async_wait(asio::bind_executor(io.get_executor(), [&](std::error_code) {
        CHECK_FALSE(strand.running_in_this_thread());
        ++waits;
    }));
    pass(io, 30ms);
    CHECK(waits == 4);
    assigned = manual_timer(wheel, io.get_executor(), manual_clock::now());
    assigned.async_wait([&](std::error_code) {
        CHECK_FALSE(strand.running_in_this_thread());
        ++waits;
    });
    pass(io, 30ms);
    CHECK(waits == 5);
}

TEST_CASE("timer_with_an_executor_of_another_context_keeps_that_one_running") {
    asio::io_context io, other;
    manual wheel(io);
    manual_timer timer(wheel, other.get_executor(), 10ms);
    bool done = false;
    timer.async_wait([&](std::error_code) { done = true; });
    CHECK(other.poll() == 0);
    CHECK_FALSE(other.stopped()); // the wait counts as work there
    pass(io, 30ms);
    CHECK_FALSE(done);
    other.run();
    CHECK(done);
}
