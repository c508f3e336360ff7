// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Wheels with use_awaitable for their default token. More: conformance/wait_coroutine_test.
#include "support/asio/virtual_wheel.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("as_default_on_token_of_a_wait_for_a_time_point_may_be_left_out") {
    asio::io_context io;
    auto wheel = asio::use_awaitable.as_default_on(manual_timer_wheel(io));
    bool done = false;
    co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await wheel.async_wait(manual_clock::now() + 10ms);
            done = true;
        },
        asio::detached);
    run_ready(io);
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
