// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The executor that a wheel and its timers stand on: concrete or erased, a strand, a thread pool, a context with any
// hint.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#include <future>
#include <memory>
#include <thread>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

template <class Executor>
using wheel_on = basic_timer_wheel<manual_clock, multi_threaded, hashed_wheel, Executor>;

/// A context that one can turn by hand, and an executor of it.
template <class Executor>
struct place;

template <>
struct place<asio::io_context::executor_type> {
    asio::io_context io;
    asio::io_context::executor_type executor = io.get_executor();
    bool inside() const { return executor.running_in_this_thread(); }
};
template <>
struct place<asio::any_io_executor> {
    asio::io_context io;
    asio::any_io_executor executor = io.get_executor();
    bool inside() { return io.get_executor().running_in_this_thread(); }
};
template <>
struct place<asio::strand<asio::io_context::executor_type>> {
    asio::io_context io;
    asio::strand<asio::io_context::executor_type> executor = asio::make_strand(io);
    bool inside() const { return executor.running_in_this_thread(); }
};
template <>
struct place<asio::strand<asio::any_io_executor>> {
    asio::io_context io;
    asio::strand<asio::any_io_executor> executor = asio::make_strand(asio::any_io_executor(io.get_executor()));
    bool inside() const { return executor.running_in_this_thread(); }
};

} // namespace

#define EVERY_IO_EXECUTOR                                                                                              \
    asio::io_context::executor_type, asio::any_io_executor, asio::strand<asio::io_context::executor_type>,             \
        asio::strand<asio::any_io_executor>

TEST_CASE_TEMPLATE("handlers_run_on_the_io_executor_however_they_end", Executor, EVERY_IO_EXECUTOR) {
    place<Executor> p;
    wheel_on<Executor> wheel(p.executor);
    static_assert(std::is_same_v<decltype(wheel.get_executor()), Executor>);
    basic_wheel_timer timer(wheel, 10ms), other(wheel, 1h);
    static_assert(std::is_same_v<decltype(timer.get_executor()), Executor>);
    CHECK(timer.get_executor() == p.executor);
    int succeeded = 0, aborted = 0, stopped = 0;
    const auto handler = [&](std::error_code ec) {
        CHECK(p.inside());
        (!ec ? succeeded : ec == asio::error::operation_aborted ? aborted : stopped) += 1;
    };
    wheel.async_wait(10ms, handler);
    timer.async_wait(handler);
    timer.async_wait(handler);
    wheel.async_wait(1h, handler);
    other.async_wait(handler);
    CHECK(succeeded + aborted + stopped == 0);
    pass(p.io, 10ms);
    CHECK(succeeded == 3);
    CHECK(other.cancel() == 1);
    run_ready(p.io);
    CHECK(aborted == 1);
    wheel.stop();
    timer.async_wait(handler);
    run_ready(p.io);
    CHECK(aborted == 2);
    CHECK(stopped == 1);
    CHECK(counts_agree(wheel.stats()));
}

TEST_CASE_TEMPLATE("context_destroyed_handlers_own_all_that_stands_on_the_executor", Executor, EVERY_IO_EXECUTOR) {
    int destroyed = 0;
    {
        place<Executor> p;
        auto wheel = std::make_shared<wheel_on<Executor>>(p.executor);
        auto timer = std::make_shared<timer_on<wheel_on<Executor>>>(*wheel, 1h);
        timer->async_wait([wheel, timer, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        wheel->async_wait(1h, [wheel, timer, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
    }
    CHECK(destroyed == 2);
}

TEST_CASE("context_of_every_concurrency_hint_waits_complete") {
    for (const int hint : {1, ASIO_CONCURRENCY_HINT_UNSAFE, ASIO_CONCURRENCY_HINT_UNSAFE_IO, ASIO_CONCURRENCY_HINT_SAFE,
                           ASIO_CONCURRENCY_HINT_DEFAULT}) {
        CAPTURE(hint);
        asio::io_context io(hint);
        manual_local_timer_wheel wheel(io);
        basic_wheel_timer timer(wheel, 20ms);
        bool done[3] = {};
        wheel.async_wait(10ms, must_complete({}, &done[0]));
        timer.async_wait(must_complete({}, &done[1]));
        wheel.async_wait(1h, must_abort(&done[2]));
        pass(io, 10ms);
        CHECK(done[0]);
        CHECK_FALSE(done[1]);
        pass(io, 10ms);
        CHECK(done[1]);
        wheel.cancel_all();
        run_ready(io);
        CHECK(done[2]);
    }
}

TEST_CASE_TEMPLATE("thread_pool_waits_complete_on_its_threads", Executor, asio::thread_pool::executor_type,
                   asio::any_io_executor, asio::strand<asio::thread_pool::executor_type>) {
    asio::thread_pool pool(2);
    std::promise<std::error_code> results[3];
    {
        const Executor executor(pool.get_executor());
        wheel_on<Executor> wheel(executor);
        timer_on<wheel_on<Executor>> timer(wheel, 10ms), never(wheel, 1h);
        const auto tell = [&](int i) {
            return [&results, i, here = std::this_thread::get_id()](std::error_code ec) {
                CHECK(std::this_thread::get_id() != here);
                results[i].set_value(ec);
            };
        };
        wheel.async_wait(10ms, tell(0));
        timer.async_wait(tell(1));
        never.async_wait(tell(2));
        manual_clock::advance(10ms);
        for (int i : {0, 1}) CHECK_FALSE(results[i].get_future().get());
        CHECK(never.cancel() == 1);
        CHECK(results[2].get_future().get() == asio::error::operation_aborted);
    }
    pool.join();
}

TEST_CASE("thread_pool_stopped_with_waits_pending_their_handlers_are_destroyed") {
    int destroyed = 0;
    {
        asio::thread_pool pool(2);
        auto wheel = std::make_shared<wheel_on<asio::thread_pool::executor_type>>(pool.get_executor());
        auto timer = std::make_shared<timer_on<wheel_on<asio::thread_pool::executor_type>>>(*wheel, 1h);
        for (int i = 0; i < 2; ++i)
            timer->async_wait([wheel, timer, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        pool.stop();
        pool.join();
    }
    CHECK(destroyed == 2);
}
