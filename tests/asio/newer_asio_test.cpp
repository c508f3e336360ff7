// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What Asio learnt after the oldest release that is supported: nothing here is compiled with that.
#include <asio/version.hpp>

#if ASIO_VERSION >= 103100

#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

#include <asio/any_completion_handler.hpp>
#include <asio/append.hpp>
#include <asio/as_tuple.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancel_after.hpp>
#include <asio/co_spawn.hpp>
#include <asio/consign.hpp>
#include <asio/deferred.hpp>
#include <asio/detached.hpp>
#include <asio/prepend.hpp>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("any_completion_handler_completes_and_is_cancelled_through_its_slot") {
    virtual_wheel w;
    asio::cancellation_signal signal;
    bool done = false, aborted = false;
    w.wheel.async_wait(10ms, asio::any_completion_handler<void(std::error_code)>(must_complete({}, &done)));
    w.wheel.async_wait(1h, asio::any_completion_handler<void(std::error_code)>(
                               asio::bind_cancellation_slot(signal.slot(), must_abort(&aborted))));
    signal.emit(asio::cancellation_type::terminal);
    w.pass(10ms);
    CHECK(done);
    CHECK(aborted);
}

TEST_CASE("any_completion_handler_bound_to_another_context_runs_there") {
    asio::io_context other;
    virtual_wheel w;
    bool done = false;
    w.wheel.async_wait(10ms, asio::any_completion_handler<void(std::error_code)>(
                                 asio::bind_executor(other, must_complete({}, &done))));
    w.pass(10ms);
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
}

TEST_CASE("cancel_after_expired_aborts_the_wait") {
    virtual_wheel w;
    bool aborted = false;
    w.wheel.async_wait(1h, asio::cancel_after(0s, must_abort(&aborted)));
    w.io.run_one();
    while (!aborted) run_ready(w.io);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE("await_deferred_default_token_resumes") {
    virtual_wheel w;
    bool done = false;
    co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
            co_await w.wheel.async_wait(10ms);
            const auto [ec] = co_await w.wheel.async_wait(10ms, asio::as_tuple);
            done = !ec;
        },
        asio::detached);
    w.run();
    w.pass(10ms);
    CHECK_FALSE(done);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE("append_prepend_consign_pass_their_values") {
    virtual_wheel w;
    int sum = 0;
    const auto add = [&sum](auto... values) {
        (..., (sum += [](auto v) {
             if constexpr (std::is_same_v<decltype(v), int>)
                 return v;
             else
                 return 0;
         }(values)));
    };
    w.wheel.async_wait(10ms, asio::append(add, 1));
    w.wheel.async_wait(10ms, asio::prepend(add, 2));
    auto kept = std::make_shared<int>();
    w.wheel.async_wait(10ms, asio::consign(add, kept));
    CHECK(kept.use_count() == 2);
    w.pass(10ms);
    CHECK(sum == 3);
    CHECK(kept.use_count() == 1);
}

#endif
