// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Completion tokens other than handlers and coroutines: the wait adapts to each.
#include "support/asio_versions.hpp"
#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

#include <asio/bind_executor.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/parallel_group.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_future.hpp>

#include <array>
#include <future>
#include <tuple>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

bool ready(const std::future<void>& f) { return f.wait_for(0s) == std::future_status::ready; }

} // namespace

TEST_CASE("use_future_success_future_is_ready") {
    virtual_wheel w;
    std::future<void> f = w.wheel.async_wait(10ms, asio::use_future);
    w.run();
    CHECK_FALSE(ready(f));
    w.pass(10ms);
    REQUIRE(ready(f));
    CHECK_NOTHROW(f.get());
}

TEST_CASE("use_future_aborted_future_throws_operation_aborted") {
    virtual_wheel w;
    std::future<void> f = w.wheel.async_wait(10ms, asio::use_future);
    w.wheel.stop();
    w.run();
    REQUIRE(ready(f));
    try {
        f.get();
        FAIL("no exception");
    } catch (const std::system_error& e) {
        CHECK(e.code() == asio::error::operation_aborted);
    }
}

TEST_CASE("use_future_context_destroyed_promise_is_broken") {
    std::future<void> f;
    {
        virtual_wheel w;
        f = w.wheel.async_wait(10ms, asio::use_future);
    }
    CHECK_THROWS_AS(f.get(), std::future_error);
}

TEST_CASE("as_tuple_of_handler_result_is_one_tuple") {
    virtual_wheel w;
    bool done = false;
    w.wheel.async_wait(10ms, as_tuple([&](std::tuple<std::error_code> result) {
                           CHECK(std::get<0>(result) == asio::error::operation_aborted);
                           done = true;
                       }));
    w.wheel.cancel_all();
    w.run();
    CHECK(done);
}

TEST_CASE("redirect_error_of_future_error_is_assigned") {
    virtual_wheel w;
    std::error_code ec;
    std::future<void> f = w.wheel.async_wait(10ms, asio::redirect_error(asio::use_future, ec));
    w.wheel.cancel_all();
    w.run();
    CHECK_NOTHROW(f.get());
    CHECK(ec == asio::error::operation_aborted);
}

TEST_CASE("detached_timer_fires_unobserved") {
    virtual_wheel w;
    w.wheel.async_wait(10ms, asio::detached);
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE("deferred_starts_when_it_is_launched") {
    virtual_wheel w;
    auto operation = w.wheel.async_wait(10ms, deferred);
    w.pass(1s);
    CHECK(w.wheel.pending() == 0);
    bool first = false, second = false;
    std::move(operation)(must_complete({}, &first));
    CHECK(w.wheel.pending() == 1);
    w.pass(9ms);
    CHECK_FALSE(first);
    w.pass(1ms);
    CHECK(first);
    auto again = w.wheel.async_wait(10ms, deferred);
    std::move(again)(must_complete({}, &second));
    w.pass(10ms);
    CHECK(second);
}

TEST_CASE("deferred_chained_continues_after_the_wait") {
    virtual_wheel w;
    auto two = w.wheel.async_wait(10ms, deferred([&](std::error_code ec) {
                                      CHECK_FALSE(ec);
                                      return w.wheel.async_wait(20ms, deferred);
                                  }));
    bool done = false;
    std::move(two)(must_complete({}, &done));
    w.pass(10ms);
    w.pass(19ms);
    CHECK_FALSE(done);
    w.pass(1ms);
    CHECK(done);
}

TEST_CASE("parallel_group_wait_for_one_loser_is_aborted") {
    virtual_wheel w;
    bool done = false;
    asio::experimental::make_parallel_group(w.wheel.async_wait(30ms, deferred), w.wheel.async_wait(10ms, deferred))
        .async_wait(asio::experimental::wait_for_one(),
                    [&](std::array<std::size_t, 2> order, std::error_code slow, std::error_code fast) {
                        CHECK(order == std::array<std::size_t, 2>{1, 0});
                        CHECK(slow == asio::error::operation_aborted);
                        CHECK_FALSE(fast);
                        done = true;
                    });
    w.pass(10ms);
    CHECK(done);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE("parallel_group_wait_for_all_both_succeed") {
    virtual_wheel w;
    bool done = false;
    asio::experimental::make_parallel_group(w.wheel.async_wait(30ms, deferred), w.wheel.async_wait(10ms, deferred))
        .async_wait(asio::experimental::wait_for_all(),
                    [&](std::array<std::size_t, 2>, std::error_code slow, std::error_code fast) {
                        CHECK_FALSE(slow);
                        CHECK_FALSE(fast);
                        done = true;
                    });
    w.pass(10ms);
    CHECK_FALSE(done);
    w.pass(20ms);
    CHECK(done);
}
