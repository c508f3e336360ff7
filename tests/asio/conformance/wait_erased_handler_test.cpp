// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// any_completion_handler, and adapters of newer Asio around a wait: nothing here is compiled with the oldest release.
#include <asio/version.hpp>

#if ASIO_VERSION >= 102500

#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/any_completion_handler.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>

#if ASIO_VERSION >= 103100
#include <asio/as_tuple.hpp>
#include <asio/cancel_after.hpp>
#include <asio/use_future.hpp>

#include <future>
#endif

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

using erased = asio::any_completion_handler<void(std::error_code)>;

TEST_CASE_TEMPLATE("any_completion_handler_completes", W, EVERY_WAIT) {
    W w;
    bool done = false;
    w.wait(10ms, erased(must_complete({}, &done)));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("any_completion_handler_is_cancelled_through_its_slot", W, EVERY_WAIT) {
    W w;
    asio::cancellation_signal signal;
    bool aborted = false;
    w.wait(1h, erased(asio::bind_cancellation_slot(signal.slot(), must_abort(&aborted))));
    signal.emit(asio::cancellation_type::terminal);
    CHECK_FALSE(aborted);
    w.run();
    CHECK(aborted);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("any_completion_handler_bound_to_another_context_runs_there_also_aborted", W, EVERY_WAIT) {
    asio::io_context other;
    W w;
    bool done = false, aborted = false;
    w.wait(10ms, erased(asio::bind_executor(other, must_complete({}, &done))));
    w.wait(1h, erased(asio::bind_executor(other, must_abort(&aborted))));
    w.pass(10ms);
    w.wheel.cancel_all();
    w.run();
    CHECK_FALSE(done);
    CHECK_FALSE(aborted);
    run_ready(other);
    CHECK(done);
    CHECK(aborted);
}

TEST_CASE_TEMPLATE("any_completion_handler_context_destroyed_is_destroyed_uninvoked", W, EVERY_WAIT) {
    int destroyed = 0;
    {
        W w;
        w.wait(1h, erased(must_not_run(&destroyed)));
    }
    CHECK(destroyed == 1);
}

#if ASIO_VERSION >= 103100
TEST_CASE_TEMPLATE("own_error_expired_aborts_the_wait", W, EVERY_WAIT) {
    W w;
    bool aborted = false;
    w.wait(1h, asio::timeout(0s, {.own_error = true}, must_abort(&aborted)));
    w.io.run_one();
    while (!aborted) run_ready(w.io);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("own_error_not_expired_the_wait_succeeds", W, EVERY_WAIT) {
    W w;
    bool done = false;
    w.wait(10ms, asio::timeout(1h, {.own_error = true}, must_complete({}, &done)));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("partial_adapter_in_front_of_another_token", W, EVERY_WAIT) {
    W w;
    auto f = w.wait(10ms, asio::as_tuple(asio::use_future));
    w.pass(10ms);
    CHECK_FALSE(std::get<0>(f.get()));
    auto g = w.wait(10ms, asio::timeout(1h, cogwheel::timeout_options{.own_error = true})(asio::use_future));
    w.pass(10ms);
    CHECK_NOTHROW(g.get());
}
#endif

#endif
