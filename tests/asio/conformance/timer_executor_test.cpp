// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timer objects with an executor of their own: handlers without one are called there, whatever ends their wait.
#include "support/asio/every_wait.hpp"
#include "support/asio/failing_executor.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/tracking_allocator.hpp"

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#include <concepts>
#include <future>
#include <memory>
#include <optional>
#include <thread>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using own_timer = basic_wheel_timer<testing::manual_timer_wheel>;

/// Two contexts: the wheel's, and that of the timers.
struct two_contexts {
    asio::io_context other;
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel;

    explicit two_contexts(const wheel_options& options = {}) { wheel.emplace(io, options); }

    own_timer on_other(std::chrono::nanoseconds delay) { return own_timer(*wheel, other.get_executor(), delay); }
    void pass(std::chrono::nanoseconds by) { cogwheel_tests::pass(io, by); }
};

} // namespace

TEST_CASE("on_its_own_executor_a_wait_completes_there_only") {
    two_contexts c;
    own_timer t = c.on_other(10ms);
    bool done = false;
    t.async_wait(must_complete({}, &done));
    c.pass(10ms);
    CHECK_FALSE(done);
    CHECK(c.wheel->pending() == 0);
    CHECK(run_ready(c.other) == 1);
    CHECK(done);
    CHECK(c.other.stopped()); // the wait is no work any more
}

TEST_CASE("on_its_own_executor_a_zero_delay_completes_in_the_next_turn") {
    two_contexts c;
    own_timer t = c.on_other(0ms);
    bool done = false;
    t.async_wait(must_complete({}, &done));
    run_ready(c.io);
    run_ready(c.other);
    CHECK(done);
}

TEST_CASE("on_its_own_executor_a_wait_keeps_both_contexts_running") {
    two_contexts c;
    own_timer t = c.on_other(10ms);
    t.async_wait(must_complete());
    CHECK(run_ready(c.other) == 0);
    CHECK_FALSE(c.other.stopped());
    run_ready(c.io);
    CHECK_FALSE(c.io.stopped());
    c.pass(10ms);
    run_ready(c.other);
    CHECK(c.other.stopped());
}

TEST_CASE("on_its_own_executor_aborts_and_refusals_complete_there_too") {
    two_contexts c({.max_pending = 1});
    own_timer t = c.on_other(10ms);
    own_timer full = c.on_other(10ms);
    bool aborted = false, refused = false, stopped = false;
    t.async_wait(must_abort(&aborted));
    full.async_wait(must_complete(errc::too_many_timers, &refused));
    CHECK(t.cancel() == 1);
    run_ready(c.io);
    c.wheel->stop();
    t.async_wait(must_complete(errc::stopped, &stopped));
    run_ready(c.io);
    CHECK_FALSE((aborted || refused || stopped));
    run_ready(c.other);
    CHECK((aborted && refused && stopped));
}

TEST_CASE("on_its_own_executor_waits_complete_in_the_order_of_their_start") {
    two_contexts c;
    own_timer t = c.on_other(10ms);
    std::vector<int> order;
    for (int i = 0; i < 5; ++i) t.async_wait([&order, i](std::error_code) { order.push_back(i); });
    c.pass(10ms);
    run_ready(c.other);
    CHECK(order == std::vector{0, 1, 2, 3, 4});
}

TEST_CASE("on_its_own_executor_a_slot_cancels_its_wait_only") {
    two_contexts c;
    own_timer t = c.on_other(10ms);
    asio::cancellation_signal signal;
    bool aborted = false, done = false;
    t.async_wait(asio::bind_cancellation_slot(signal.slot(), must_abort(&aborted)));
    t.async_wait(must_complete({}, &done));
    own_timer moved(std::move(t));
    signal.emit(asio::cancellation_type::terminal);
    run_ready(c.io);
    run_ready(c.other);
    CHECK(aborted);
    CHECK_FALSE(done);
    c.pass(10ms);
    run_ready(c.other);
    CHECK(done);
}

TEST_CASE("on_its_own_executor_a_handler_may_end_timer_and_wheel") {
    two_contexts c;
    std::optional<own_timer> t(c.on_other(10ms));
    bool done = false;
    t->async_wait([&](std::error_code ec) {
        CHECK_FALSE(ec);
        t.reset();
        c.wheel.reset();
        done = true;
    });
    c.pass(10ms);
    run_ready(c.other);
    CHECK(done);
}

TEST_CASE("on_its_own_executor_the_end_of_the_wheel_aborts_there") {
    two_contexts c;
    own_timer t = c.on_other(10ms);
    bool aborted = false;
    t.async_wait(must_abort(&aborted));
    c.wheel.reset();
    run_ready(c.io);
    CHECK_FALSE(aborted);
    run_ready(c.other);
    CHECK(aborted);
}

TEST_CASE("on_its_own_executor_the_end_of_the_wheels_context_destroys_the_handler") {
    asio::io_context other;
    int destroyed = 0;
    {
        asio::io_context io;
        manual_timer_wheel wheel(io);
        own_timer t(wheel, other.get_executor(), 1h);
        t.async_wait(must_not_run(&destroyed));
        t.async_wait(must_not_run(&destroyed));
    }
    CHECK(destroyed == 2);
    run_ready(other);
    CHECK(other.stopped());
}

TEST_CASE("on_its_own_executor_a_completion_on_the_way_is_destroyed_with_its_context") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    int destroyed = 0;
    {
        asio::io_context other;
        own_timer t(wheel, other.get_executor(), 10ms);
        t.async_wait(must_not_run(&destroyed));
        pass(io, 10ms);
        CHECK(destroyed == 0);
    }
    CHECK(destroyed == 1);
}

TEST_CASE("on_its_own_executor_that_refuses_the_handler_is_destroyed_and_the_rest_goes_on") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    bool fails = true;
    own_timer t(wheel, failing_executor(io, fails), 10ms);
    int destroyed = 0;
    bool done = false;
    t.async_wait(must_not_run(&destroyed));
    t.async_wait(must_complete({}, &done));
    manual_clock::advance(10ms);
    io.restart();
    CHECK_THROWS_AS(io.poll(), std::bad_alloc);
    CHECK(destroyed == 1);
    fails = false;
    run_ready(io);
    CHECK(done);
}

TEST_CASE("on_its_own_executor_the_handlers_allocator_is_used") {
    two_contexts c;
    own_timer t = c.on_other(10ms);
    allocation_log a;
    bool done = false;
    t.async_wait(asio::bind_allocator(tracking_allocator<void>(a), must_complete({}, &done)));
    CHECK(a.live > 0);
    c.pass(10ms);
    run_ready(c.other);
    CHECK(done);
    CHECK(a.live == 0);
}

TEST_CASE("on_its_own_executor_another_thread_calls_the_handler") {
    asio::thread_pool pool(1);
    asio::io_context io;
    manual_timer_wheel wheel(io);
    std::promise<std::thread::id> ran;
    basic_wheel_timer t(wheel, pool.get_executor(), 10ms), unused(wheel, pool.get_executor());
    static_assert(std::same_as<decltype(t), basic_wheel_timer<manual_timer_wheel, asio::thread_pool::executor_type>>);
    static_assert(std::same_as<decltype(unused), decltype(t)>);
    t.async_wait([&](std::error_code ec) {
        CHECK_FALSE(ec);
        ran.set_value(std::this_thread::get_id());
    });
    pass(io, 10ms);
    CHECK(ran.get_future().get() != std::this_thread::get_id());
    pool.join();
}
