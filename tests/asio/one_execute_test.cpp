// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A completion goes through its handler's executor once, as Asio's do: a loop that always queues sees one item.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/queueing_executor.hpp"
#include "support/asio/scripted_operation.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 102500
#include <asio/any_completion_handler.hpp>
#endif

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct queued {
    virtual_wheel w;
    asio::io_context gui;
    std::atomic<int> executed = 0;
    queueing_executor executor{gui, executed};

    template <class F>
    auto bound(F f) {
        return asio::bind_executor(executor, std::move(f));
    }
    void expect_one() {
        CHECK(executed == 1);
        CHECK(run_ready(gui) == 1); // and one turn of that loop
        CHECK(executed == 1);
    }
};

} // namespace

TEST_CASE("handler_bound_to_a_queueing_executor_is_executed_once") {
    queued q;
    bool done = false;
    SUBCASE("wait that expires") {
        q.w.wheel.async_wait(10ms, q.bound(must_complete({}, &done)));
        q.w.pass(10ms);
    }
    SUBCASE("wait that is aborted") {
        q.w.wheel.async_wait(10ms, q.bound(must_abort(&done)));
        q.w.wheel.cancel_all();
        q.w.run();
    }
    SUBCASE("wait that is aborted through its slot") {
        asio::cancellation_signal signal;
        q.w.wheel.async_wait(10ms, asio::bind_cancellation_slot(signal.slot(), q.bound(must_abort(&done))));
        signal.emit(asio::cancellation_type::terminal);
        q.w.run();
    }
    SUBCASE("wait that is refused") {
        q.w.wheel.stop();
        q.w.wheel.async_wait(10ms, q.bound(must_complete(errc::stopped, &done)));
        q.w.run();
    }
    SUBCASE("timer object") {
        basic_wheel_timer<testing::manual_timer_wheel> timer(q.w.wheel, 10ms);
        timer.async_wait(q.bound(must_complete({}, &done)));
        q.w.pass(10ms);
    }
    SUBCASE("callable") {
        q.w.wheel.schedule(10ms, q.bound([&done] { done = true; }));
        q.w.pass(10ms);
    }
    SUBCASE("on-cancel callable") {
        const auto t = q.w.wheel.schedule(10ms, must_not_run(), on_cancel(q.bound([&done] { done = true; })));
        CHECK(t.cancel());
        q.w.run();
    }
#if ASIO_VERSION >= 102500
    SUBCASE("erased handler") {
        q.w.wheel.async_wait(10ms,
                             asio::any_completion_handler<void(std::error_code)>(q.bound(must_complete({}, &done))));
        q.w.pass(10ms);
    }
#endif
    q.expect_one();
    CHECK(done);
}

TEST_CASE("abort_of_a_limited_operation_is_executed_once") {
    queued q;
    scripted_read read(q.w.io.get_executor());
    read_result result;
    read.async_run(timeout(q.w.wheel, 10ms, q.bound(result.handler())));
    q.w.pass(10ms);
    q.expect_one(); // the signal is emitted where the handler runs
    CHECK(read.cancelled.size() == 1);
    read.complete(asio::error::operation_aborted, 0);
    CHECK(q.executed == 2);
    run_ready(q.gui);
    CHECK(q.executed == 2);
    CHECK(result.times == 1);
}
