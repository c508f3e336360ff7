// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Exceptions out of the initiating function, the allocator, the cancellation and the handler.
#include "support/asio/failing_executor.hpp"
#include "support/asio/scripted_driver.hpp"
#include "support/asio/scripted_operation.hpp"
#include "support/tracking_allocator.hpp"

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("initiating_function_throws_handler_destroyed_timer_gone", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    auto alive = std::make_shared<int>();
    const auto never = [alive](std::error_code, std::size_t) { FAIL_CHECK("ran"); };
    r.read.on_start = [&] {
        r.read.drop();
        throw std::runtime_error("no");
    };
    asio::cancellation_signal signal;
    CHECK_THROWS_AS(r.read.async_run(timeout(r.wheel, 10ms, never)), std::runtime_error);
    CHECK_THROWS_AS(r.read.async_run(timeout(r.wheel, 10ms, asio::bind_cancellation_slot(signal.slot(), never))),
                    std::runtime_error);
    signal.emit(asio::cancellation_type::terminal);
    CHECK(r.wheel.pending() == 0);
    CHECK(alive.use_count() == 2); // ours and never's
    CHECK(counts_agree(r.wheel.stats()));
    r.pass(1h);
}

TEST_CASE_TEMPLATE("initiating_function_throws_after_the_operation_was_started", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    r.read.on_start = [] { throw std::runtime_error("too late"); };
    CHECK_THROWS_AS(r.read.async_run(timeout(r.wheel, 10ms, result.handler())), std::runtime_error);
    CHECK(r.wheel.pending() == 1);
    r.pass(20ms);
    CHECK(result.times == 1);
    CHECK(result.ec == asio::error::timed_out);
}

TEST_CASE_TEMPLATE("allocator_throws_nothing_is_started_or_leaked", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    allocation_log log{.fail = true};
    auto alive = std::make_shared<int>();
    auto handler = asio::bind_allocator(tracking_allocator<void>(log),
                                        [alive](std::error_code, std::size_t) { FAIL_CHECK("ran"); });
    CHECK_THROWS_AS(r.read.async_run(timeout(r.wheel, 10ms, handler)), std::bad_alloc);
    CHECK(r.read.started == 0);
    CHECK(r.wheel.pending() == 0);
    CHECK(alive.use_count() == 2);
    CHECK(log.live == 0);
}

TEST_CASE("arming_throws_nothing_is_started_or_leaked") {
    asio::io_context io;
    scripted_wheel wheel(io);
    script::the().fail = true;
    scripted_read read(io.get_executor());
    auto alive = std::make_shared<int>();
    auto handler = [alive](std::error_code, std::size_t) { FAIL_CHECK("ran"); };
    CHECK_THROWS_AS(read.async_run(timeout(wheel, 10ms, std::move(handler))), std::bad_alloc);
    CHECK(read.started == 0);
    CHECK(wheel.pending() == 0);
    CHECK(alive.use_count() == 1);
    script::the().fail = false;
    read_result result;
    read.async_run(timeout(wheel, 10ms, result.handler()));
    read.complete({}, 1);
    run_ready(io);
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("handler_throws_out_of_run_and_the_wheel_goes_on", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    scripted_read other(r.io.get_executor());
    other.on_cancel = [&](asio::cancellation_type) { other.complete(asio::error::operation_aborted, 0); };
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, [](std::error_code, std::size_t) { throw std::runtime_error("handler"); }));
    other.async_run(timeout(r.wheel, 10ms, result.handler()));
    CHECK_THROWS_AS(r.pass(20ms), std::runtime_error);
    r.run();
    CHECK(result.times == 1);
    CHECK(result.ec == asio::error::timed_out);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("cancellation_throws_operation_is_not_lost", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    asio::cancellation_signal signal;
    r.read.on_cancel = [](asio::cancellation_type) { throw std::runtime_error("cancellation"); };
    r.read.async_run(timeout(r.wheel, 10ms, asio::bind_cancellation_slot(signal.slot(), result.handler())));
    SUBCASE("the timer's") { CHECK_THROWS_AS(r.pass(20ms), std::runtime_error); }
    SUBCASE("the user's") { CHECK_THROWS_AS(signal.emit(asio::cancellation_type::total), std::runtime_error); }
    CHECK(result.times == 0);
    r.read.complete({}, 1);
    r.run();
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("cancellation_throws_after_it_completed_the_operation", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    r.read.on_cancel = [&](asio::cancellation_type) {
        r.read.complete({}, 1);
        throw std::runtime_error("cancellation");
    };
    r.read.async_run(timeout(r.wheel, 10ms, result.handler()));
    CHECK_THROWS_AS(r.pass(20ms), std::runtime_error);
    r.run();
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("post_fails_in_the_users_cancellation_the_operation_stays_pending", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    bool fail = false;
    read_result result;
    asio::cancellation_signal signal;
    r.read.on_cancel = [&](asio::cancellation_type) { r.read.complete_here(asio::error::operation_aborted, 0); };
    r.read.async_run(timeout(r.wheel, 10ms,
                             asio::bind_cancellation_slot(
                                 signal.slot(), asio::bind_executor(failing_executor(r.io, fail), result.handler()))));
    fail = true;
    CHECK_THROWS_AS(signal.emit(asio::cancellation_type::terminal), std::bad_alloc);
    CHECK(r.read.pending());
    fail = false;
    SUBCASE("until it is cancelled again") { signal.emit(asio::cancellation_type::terminal); }
    SUBCASE("until its limit") { manual_clock::advance(20ms); }
    r.run();
    CHECK(result.times == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("executor_takes_no_emission_the_next_turn_tries_again", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    bool fail = false;
    read_result result;
    r.read.on_cancel = [&](asio::cancellation_type) { r.read.complete_here(asio::error::operation_aborted, 0); };
    r.read.async_run(timeout(r.wheel, 10ms, asio::bind_executor(failing_executor(r.io, fail), result.handler())));
    fail = true;
    SUBCASE("its limit over") {
        CHECK_THROWS_AS(r.pass(20ms), std::bad_alloc);
        CHECK_THROWS_AS(r.run(), std::bad_alloc);
    }
    SUBCASE("dropped by the wheel") {
        r.wheel.cancel_all();
        CHECK_THROWS_AS(r.run(), std::bad_alloc);
    }
    CHECK(r.read.pending());
    fail = false;
    r.run();
    CHECK(result.times == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("no_memory_in_the_limits_emission_the_next_turn_tries_again", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    int left = 2;
    r.read.on_cancel = [&](asio::cancellation_type) {
        if (left-- != 0) throw std::bad_alloc();
        r.read.complete(asio::error::operation_aborted, 0);
    };
    r.read.async_run(timeout(r.wheel, 10ms, result.handler()));
    CHECK_THROWS_AS(r.pass(20ms), std::bad_alloc);
    CHECK_THROWS_AS(r.run(), std::bad_alloc);
    r.run();
    CHECK(result.times == 1);
    CHECK(result.ec == asio::error::timed_out);
}

TEST_CASE("initiating_function_completes_and_the_post_fails_it_throws_and_the_handler_is_destroyed") {
    timeout_rig<manual_timer_wheel> r;
    bool fail = false;
    auto alive = std::make_shared<int>();
    auto handler =
        asio::bind_executor(failing_executor(r.io, fail), [alive](std::error_code, std::size_t) { FAIL_CHECK("ran"); });
    r.read.on_start = [&] {
        r.read.complete_here({}, 1);
        fail = true;
    };
    CHECK_THROWS_AS(r.read.async_run(timeout(r.wheel, 10ms, std::move(handler))), std::bad_alloc);
    CHECK(alive.use_count() == 1);
    fail = false;
    r.pass(1h);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("emission_while_it_is_initiated_cannot_be_brought_home_the_operation_goes_on") {
    timeout_rig<manual_timer_wheel> r;
    bool fail = false;
    read_result result;
    asio::cancellation_signal signal;
    r.read.on_start = [&] {
        signal.emit(asio::cancellation_type::terminal);
        fail = true;
    };
    r.read.async_run(timeout(r.wheel, 1h,
                             asio::bind_cancellation_slot(
                                 signal.slot(), asio::bind_executor(failing_executor(r.io, fail), result.handler()))));
    CHECK(r.read.cancelled.empty());
    fail = false;
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(result.times == 1);
    CHECK(result.ec == asio::error::operation_aborted);
    CHECK(r.wheel.pending() == 0);
}

namespace {

/// Fails as failing_executor does, after something else has happened.
class meddling_executor {
public:
    meddling_executor(asio::io_context& io, const bool& fail, const std::function<void()>& meanwhile)
        : io_(&io), fail_(&fail), meanwhile_(&meanwhile) {}

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *io_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    template <class F>
    void execute(F&& f) const {
        if (*fail_) (*meanwhile_)();
        asio::any_io_executor(failing_executor(*io_, *fail_)).execute(std::forward<F>(f));
    }

    friend bool operator==(const meddling_executor&, const meddling_executor&) noexcept = default;

private:
    asio::io_context* io_;
    const bool* fail_;
    const std::function<void()>* meanwhile_;
};

/// The operation ends on another thread, as it were, while its emission fails.
struct ending_meanwhile {
    bool fail = false;
    asio::io_context io;
    scripted_read read{io.get_executor()};
    read_result result;
    asio::cancellation_signal signal;
    std::function<void()> meanwhile = [this] {
        if (read.pending()) read.complete_here({}, 1);
    };

    auto handler() {
        return asio::bind_cancellation_slot(
            signal.slot(), asio::bind_executor(meddling_executor(io, fail, meanwhile), result.handler()));
    }
    void emit() {
        fail = true;
        CHECK_THROWS_AS(signal.emit(asio::cancellation_type::terminal), std::bad_alloc);
        CHECK(result.times == 0);
        CHECK_FALSE(read.pending());
        fail = false;
    }
};

} // namespace

TEST_CASE_TEMPLATE("post_fails_in_the_users_cancellation_and_the_operation_ends_meanwhile", Wheel, BOTH_WHEELS) {
    ending_meanwhile r;
    Wheel wheel(r.io);
    r.read.async_run(timeout(wheel, 1h, r.handler()));
    r.emit();
    run_ready(r.io);
    CHECK(r.result.times == 1);
    CHECK_FALSE(r.result.ec);
    CHECK(wheel.pending() == 0);
}

TEST_CASE("post_fails_in_the_users_cancellation_and_no_turn_can_be_had_the_next_one_delivers") {
    ending_meanwhile r;
    scripted_wheel wheel(asio::any_io_executor(failing_executor(r.io, r.fail)));
    r.read.async_run(timeout(wheel, 1h, r.handler()));
    wheel.schedule(10ms, [&] { r.fail = script::the().fail = true; });
    CHECK_THROWS_AS(pass_scripted(r.io, 10ms), std::bad_alloc); // nothing is planned after that
    r.emit();
    script::the().fail = false;
    run_ready(r.io);
    CHECK(r.result.times == 0);
    CHECK(wheel.schedule(1h, [] {}));
    run_ready(r.io);
    CHECK(r.result.times == 1);
}
