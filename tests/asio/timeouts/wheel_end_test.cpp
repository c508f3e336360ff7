// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel that takes no timer, or ends while operations are limited by it.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/noted_executor.hpp"
#include "support/asio/scripted_operation.hpp"

#include <asio/bind_executor.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("wheel_stopped_before_the_start_operation_is_never_started", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    r.wheel.stop();
    SUBCASE("timed_out") { r.read.async_run(timeout(r.wheel, 10ms, result.handler())); }
    SUBCASE("its own error") { r.read.async_run(timeout(r.wheel, 10ms, {.own_error = true}, result.handler())); }
    CHECK(result.times == 0); // not inline
    r.run();
    CHECK(result.times == 1);
    CHECK(result.ec == errc::stopped);
    CHECK(r.read.started == 0);
    CHECK(r.wheel.stats().rejected == 1);
}

TEST_CASE_TEMPLATE("wheel_full_too_many_timers_and_the_next_fits_again", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r({.max_pending = 1});
    read_result first, second;
    scripted_read other(r.io.get_executor());
    r.read.async_run(timeout(r.wheel, 10ms, first.handler()));
    other.async_run(timeout(r.wheel, 10ms, second.handler()));
    r.run();
    CHECK(second.ec == errc::too_many_timers);
    CHECK(other.started == 0);
    r.read.complete({}, 1);
    r.run();
    other.async_run(timeout(r.wheel, 10ms, second.handler()));
    CHECK(other.started == 1);
    other.complete({}, 2);
    r.run();
    CHECK(second.times == 2);
    CHECK(second.bytes == 2);
}

TEST_CASE_TEMPLATE("refused_then_the_wheel_is_destroyed_and_its_memory_used_again", Wheel, BOTH_WHEELS) {
    asio::io_context io, other;
    std::optional<Wheel> wheel(io);
    scripted_read read(other.get_executor());
    read_result result;
    wheel->stop();
    read.async_run(timeout(*wheel, 10ms, result.handler()));
    wheel.reset();
    run_ready(io);
    Wheel next(io);
    bool fired = false;
    next.schedule(0ms, [&] { fired = true; });
    run_ready(io);
    CHECK(fired);
    CHECK(result.times == 0);
    run_ready(other);
    CHECK(result.times == 1);
    CHECK(result.ec == errc::stopped);
}

TEST_CASE_TEMPLATE("refused_and_never_called_handler_is_destroyed_with_its_context", Wheel, BOTH_WHEELS) {
    int destroyed = 0;
    {
        timeout_rig<Wheel> r;
        r.wheel.stop();
        r.read.async_run(
            timeout(r.wheel, 10ms, [no = must_not_run(&destroyed)](std::error_code ec, std::size_t) { no(ec); }));
        CHECK(destroyed == 0);
    }
    CHECK(destroyed == 1);
}

TEST_CASE_TEMPLATE("refused_with_an_exception_pointer_says_why", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    scripted_operation<void(std::exception_ptr)> op(r.io.get_executor());
    r.wheel.stop();
    std::error_code ec;
    op.async_run(timeout(r.wheel, 10ms, [&](std::exception_ptr e) {
        try {
            std::rethrow_exception(e);
        } catch (const std::system_error& error) {
            ec = error.code();
        }
    }));
    r.run();
    CHECK(ec == errc::stopped);
    CHECK(op.started == 0);
}

TEST_CASE_TEMPLATE("no_error_to_refuse_with_operation_is_started_and_cancelled_at_once", Wheel, BOTH_WHEELS) {
    for (const bool full : {false, true}) {
        CAPTURE(full);
        timeout_rig<Wheel> r({.max_pending = 1});
        scripted_operation<void()> op(r.io.get_executor());
        int times = 0;
        if (full)
            r.wheel.schedule(1h, [] {});
        else
            r.wheel.stop();
        op.async_run(timeout(r.wheel, 10ms, {.own_error = true}, [&] { ++times; }));
        CHECK(op.started == 1);
        CHECK(op.cancelled.empty());
        SUBCASE("heeded") {
            op.on_cancel = [&](asio::cancellation_type) { op.complete(); };
            r.run();
            CHECK(op.cancelled.size() == 1);
        }
        SUBCASE("completed before the cancellation") {
            op.complete_here();
            CHECK(times == 1); // its results do not wait for the turn
            r.run();
            CHECK(op.cancelled.empty());
        }
        SUBCASE("ignored") {
            r.run();
            CHECK(op.cancelled.size() == 1);
            op.complete();
            r.run();
        }
        CHECK(times == 1);
    }
}

TEST_CASE_TEMPLATE("wheel_ends_in_flight_operation_is_cancelled_not_timed_out", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    std::optional<Wheel> wheel(io);
    scripted_read read(io.get_executor());
    read.on_cancel = [&](asio::cancellation_type) { read.complete(asio::error::operation_aborted, 0); };
    read_result result;
    read.async_run(timeout(*wheel, 1h, result.handler()));
    SUBCASE("stopped") { wheel->stop(); }
    SUBCASE("stopped twice") {
        wheel->stop();
        wheel->stop();
    }
    SUBCASE("all timers cancelled") { CHECK(wheel->cancel_all() == 1); }
    SUBCASE("destroyed") { wheel.reset(); }
    CHECK(read.cancelled.empty()); // not inline
    run_ready(io);
    CHECK(read.cancelled.size() == 1);
    CHECK(result.times == 1);
    CHECK(result.ec == asio::error::operation_aborted);
    if (wheel) CHECK(wheel->pending() == 0);
}

TEST_CASE_TEMPLATE("operation_done_between_the_end_and_its_delivery_completes_once", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    std::optional<Wheel> wheel(io);
    scripted_read read(io.get_executor());
    read_result result;
    read.async_run(timeout(*wheel, 1h, result.handler()));
    SUBCASE("completed") {
        asio::post(io, [&] { read.complete({}, 4); }); // before the turn
        wheel.reset();
        run_ready(io);
        CHECK(result.times == 1);
        CHECK(result.bytes == 4);
    }
    SUBCASE("destroyed") {
        asio::post(io, [&] { read.drop(); });
        wheel.reset();
        run_ready(io);
        CHECK(result.times == 0);
    }
    CHECK(read.cancelled.empty());
}

// The operation's context may go before the wheel's runs again, or the wheel's may never run again.
TEST_CASE_TEMPLATE("operation_elsewhere_does_not_wait_for_the_delivery_of_the_end", Wheel, BOTH_WHEELS) {
    asio::io_context io, other;
    executor_note note;
    std::optional<Wheel> wheel(io);
    scripted_read read(other.get_executor());
    read_result result;
    read.async_run(timeout(*wheel, 1h, asio::bind_executor(noted_executor<false>(other, note), result.handler())));
    SUBCASE("stopped") { wheel->stop(); }
    SUBCASE("all timers cancelled") { wheel->cancel_all(); }
    SUBCASE("destroyed") { wheel.reset(); }
    SUBCASE("stopped, and then completed") {
        wheel->stop();
        read.complete({}, 4);
        run_ready(other);
        CHECK(result.bytes == 4);
    }
    if (read.pending()) read.drop();
    CHECK(note.copies == 0); // nothing of it is left
    CHECK(note.work == 0);
    run_ready(io);
    CHECK(run_ready(other) == 0);
    CHECK(read.cancelled.empty());
    CHECK(result.times == (result.bytes == 4 ? 1 : 0));
}

TEST_CASE_TEMPLATE("wheel_destroyed_its_impl_serves_the_next_once_all_is_over", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    scripted_read read(io.get_executor());
    read_result result;
    std::optional<Wheel> wheel(io);
    const auto* body = &detail::impl_of(*wheel);
    read.async_run(timeout(*wheel, 1h, result.handler()));
    wheel.reset();
    run_ready(io);
    wheel.emplace(io); // the operation holds on to the first body
    CHECK(&detail::impl_of(*wheel) != body);
    read.complete({}, 1);
    run_ready(io);
    CHECK(result.times == 1);
    Wheel next(io);
    CHECK(&detail::impl_of(next) == body);
    read.async_run(timeout(next, 10ms, result.handler()));
    pass(io, 20ms);
    CHECK(read.cancelled.size() == 2);
    read.complete(asio::error::operation_aborted, 0);
    run_ready(io);
    CHECK(result.ec == asio::error::timed_out);
}

TEST_CASE_TEMPLATE("wheel_destroyed_inside_the_handler", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    scripted_read read(io.get_executor());
    read.on_cancel = [&](asio::cancellation_type) { read.complete(asio::error::operation_aborted, 0); };
    std::optional<Wheel> wheel(io);
    int times = 0;
    read.async_run(timeout(*wheel, 10ms, [&](std::error_code, std::size_t) {
        wheel.reset();
        ++times;
    }));
    SUBCASE("of an operation that is done") {
        read.complete({}, 1);
        run_ready(io);
    }
    SUBCASE("of one that timed out") { pass(io, 20ms); }
    CHECK(times == 1);
    wheel.emplace(io);
    CHECK(wheel->pending() == 0);
}

TEST_CASE_TEMPLATE("wheel_destroyed_inside_the_cancellation", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    scripted_read read(io.get_executor());
    std::optional<Wheel> wheel(io);
    read_result result;
    read.on_cancel = [&](asio::cancellation_type) { wheel.reset(); };
    read.async_run(timeout(*wheel, 10ms, result.handler()));
    pass(io, 20ms);
    CHECK_FALSE(wheel.has_value());
    read.complete(asio::error::operation_aborted, 0);
    run_ready(io);
    CHECK(result.ec == asio::error::timed_out);
}
