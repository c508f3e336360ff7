// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where the cancellation is emitted and where the handler is called: on the handler's executor, else on the
// operation's.
#include "support/asio/scripted_operation.hpp"
#include "support/threads.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/associated_executor.hpp>
#include <asio/bind_executor.hpp>
#include <asio/execution.hpp>
#include <asio/require.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// As a handler whose type is erased: its type has an associated executor, and this one perhaps none.
struct bound_perhaps {
    std::optional<asio::any_io_executor> executor;
    std::function<void(std::error_code, std::size_t)> f;
    void operator()(std::error_code ec, std::size_t n) { f(ec, n); }
};

/// Posts to a loop, and does not promise never to block.
struct no_promise {
    asio::io_context* loop;

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *loop; }
    template <class F>
    void execute(F&& f) const {
        asio::any_io_executor(asio::require(loop->get_executor(), asio::execution::blocking.never))
            .execute(std::forward<F>(f));
    }
    friend bool operator==(const no_promise&, const no_promise&) = default;
};

} // namespace

template <class Executor>
struct asio::associated_executor<bound_perhaps, Executor> {
    using type = asio::any_io_executor;
    static type get(const bound_perhaps& h, const Executor& e) noexcept { return h.executor ? *h.executor : type(e); }
};

TEST_CASE_TEMPLATE("handler_bound_to_a_strand_emitted_and_called_there", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    auto strand = asio::make_strand(r.io);
    int emitted = 0, called = 0;
    r.read.on_cancel = [&](asio::cancellation_type) {
        CHECK(strand.running_in_this_thread());
        ++emitted;
        r.read.complete(asio::error::operation_aborted, 0);
    };
    r.read.async_run(timeout(r.wheel, 10ms, asio::bind_executor(strand, [&](std::error_code ec, std::size_t) {
                                 CHECK(strand.running_in_this_thread());
                                 CHECK(ec == asio::error::timed_out);
                                 ++called;
                             })));
    r.pass(20ms);
    CHECK(emitted == 1);
    CHECK(called == 1);
}

TEST_CASE_TEMPLATE("handler_bound_to_another_context_emitted_and_called_there", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    timeout_rig<Wheel> r;
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, asio::bind_executor(other, result.handler())));
    r.pass(20ms);
    CHECK(r.read.cancelled.empty());
    run_ready(other);
    CHECK(r.read.cancelled.size() == 1);
    r.run();
    run_ready(other);
    CHECK(result.times == 1);
    CHECK(result.ec == asio::error::timed_out);
}

TEST_CASE_TEMPLATE("operation_on_another_context_emitted_and_called_there", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    timeout_rig<Wheel> r;
    scripted_read read(other.get_executor());
    read.on_cancel = [&](asio::cancellation_type) { read.complete(asio::error::operation_aborted, 0); };
    read_result result;
    SUBCASE("timer first") {
        read.async_run(timeout(r.wheel, 10ms, result.handler()));
        r.pass(20ms);
        CHECK(read.cancelled.empty());
        run_ready(other);
        CHECK(read.cancelled.size() == 1);
        CHECK(result.ec == asio::error::timed_out);
    }
    SUBCASE("refused") {
        r.wheel.stop();
        read.async_run(timeout(r.wheel, 10ms, result.handler()));
        r.run();
        CHECK(result.times == 0);
        run_ready(other);
        CHECK(result.ec == errc::stopped);
    }
    SUBCASE("all timers cancelled") {
        read.async_run(timeout(r.wheel, 10ms, result.handler()));
        r.wheel.cancel_all();
        r.run();
        CHECK(read.cancelled.empty());
        run_ready(other);
        CHECK(result.ec == asio::error::operation_aborted);
    }
    CHECK(result.times == 1);
}

TEST_CASE_TEMPLATE("handler_that_has_no_executor_at_run_time_is_called_on_that_of_the_operation", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    timeout_rig<Wheel> r;
    scripted_read read(other.get_executor());
    read.on_cancel = [&](asio::cancellation_type) { read.complete(asio::error::operation_aborted, 0); };
    read_result result;
    bool refused = false;
    SUBCASE("timer first") {}
    SUBCASE("refused") {
        r.wheel.stop();
        refused = true;
    }
    read.async_run(timeout(r.wheel, 10ms, bound_perhaps{{}, result.handler()}));
    r.pass(20ms);
    CHECK(read.cancelled.empty());
    CHECK(result.times == 0);
    run_ready(other);
    CHECK(result.times == 1);
    CHECK(result.ec == (refused ? std::error_code(errc::stopped) : std::error_code(asio::error::timed_out)));
}

TEST_CASE_TEMPLATE("refused_wheels_context_does_not_run_handler_is_called_nevertheless", Wheel, BOTH_WHEELS) {
    asio::io_context idle, other;
    Wheel wheel(idle);
    scripted_read read(other.get_executor());
    read_result result;
    wheel.stop();
    SUBCASE("bound") { read.async_run(timeout(wheel, 10ms, asio::bind_executor(other, result.handler()))); }
    SUBCASE("bound to an executor that promises nothing") {
        read.async_run(timeout(wheel, 10ms, asio::bind_executor(no_promise{&other}, result.handler())));
    }
    SUBCASE("not bound") { read.async_run(timeout(wheel, 10ms, result.handler())); }
    CHECK(result.times == 0);
    run_ready(other);
    CHECK(result.times == 1);
    CHECK(result.ec == errc::stopped);
}

TEST_CASE_TEMPLATE("completed_while_the_emission_is_queued_nobody_emits_any_more", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    timeout_rig<Wheel> r;
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, asio::bind_executor(other, result.handler())));
    r.pass(20ms); // other has the emission
    r.read.complete_here({}, 6);
    CHECK(result.times == 0);
    run_ready(other);
    CHECK(result.times == 1);
    CHECK(result.bytes == 6);
    CHECK_FALSE(result.ec);
    CHECK(r.read.cancelled.empty());
}

TEST_CASE_TEMPLATE("completed_while_the_emission_is_queued_aborted_says_timed_out", Wheel, BOTH_WHEELS) {
    asio::io_context other;
    timeout_rig<Wheel> r;
    read_result result;
    r.read.async_run(timeout(r.wheel, 10ms, asio::bind_executor(other, result.handler())));
    r.pass(20ms);
    r.read.complete_here(asio::error::operation_aborted, 0);
    run_ready(other);
    CHECK(result.ec == asio::error::timed_out);
    CHECK(result.times == 1);
}

TEST_CASE("handler_bound_to_a_thread_pool_emitted_and_called_there") {
    asio::thread_pool pool(1);
    timeout_rig<manual_timer_wheel> r;
    r.be_deaf();
    std::promise<std::thread::id> emitted, called, pools;
    asio::post(pool, [&] { pools.set_value(std::this_thread::get_id()); });
    r.read.on_cancel = [&](asio::cancellation_type) {
        emitted.set_value(std::this_thread::get_id());
        r.read.complete(asio::error::operation_aborted, 0);
    };
    r.read.async_run(timeout(r.wheel, 10ms, asio::bind_executor(pool, [&](std::error_code ec, std::size_t) {
                                 CHECK(ec == asio::error::timed_out);
                                 called.set_value(std::this_thread::get_id());
                             })));
    r.pass(20ms);
    const auto id = pools.get_future().get();
    CHECK(emitted.get_future().get() == id);
    CHECK(called.get_future().get() == id);
    pool.join();
}

TEST_CASE_TEMPLATE("completed_inside_the_initiating_function_not_inline", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    r.read.on_start = [&] { r.read.complete({}, 8); }; // dispatch: not in the context, so posted
    r.read.async_run(timeout(r.wheel, 10ms, result.handler()));
    CHECK(result.times == 0);
    r.run();
    CHECK(result.times == 1);
    CHECK(result.bytes == 8);
}

TEST_CASE("completed_by_another_thread_while_being_started_run_waits_for_the_handler") {
    asio::io_context other;
    timeout_rig<manual_timer_wheel> r;
    scripted_read read(other.get_executor());
    read_result result;
    read.on_start = [&] {
        read.complete({}, 8);
        std::thread([&] { other.poll(); }).join(); // completes, and leaves the results to this thread
        CHECK(result.times == 0);
        CHECK_FALSE(other.stopped());
    };
    read.async_run(timeout(r.wheel, 10ms, result.handler()));
    other.poll();
    CHECK(result.times == 1);
    CHECK(result.bytes == 8);
    CHECK(other.stopped());
}
