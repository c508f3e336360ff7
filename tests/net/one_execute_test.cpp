// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A completion goes through its handler's executor once: a loop that always queues sees one item.
#include "support/asio/queueing_executor.hpp"
#include "support/asio/scripted_operation.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/net/idle_monitor.hpp>
#include <cogwheel/net/pending_requests.hpp>
#include <cogwheel/resilience/hedge.hpp>
#include <cogwheel/resilience/retry.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct queueing_rig {
    virtual_wheel w;
    asio::io_context loop;
    std::atomic<int> executed = 0;
    queueing_executor executor{loop, executed};
    int called = 0;
    asio::cancellation_signal signal;

    auto handler() {
        return asio::bind_executor(executor, [this](auto&&...) { ++called; });
    }
    auto cancellable() { return asio::bind_cancellation_slot(signal.slot(), handler()); }
    void emit() { signal.emit(asio::cancellation_type::terminal); }
    /// So many times, the last of which calls the handler.
    void expect(int times) {
        for (int i = 0; i < times; ++i) {
            CHECK(called == 0);
            run_ready(loop);
            w.run();
        }
        CHECK(executed == times);
        CHECK(called == 1);
    }
};

using limits = idle_timeouts;
using monitor_type = idle_monitor<manual_timer_wheel>;
using requests_type = pending_requests<int, std::string, manual_timer_wheel>;

} // namespace

TEST_CASE("request_is_executed_once") {
    queueing_rig r;
    std::optional<requests_type> requests(std::in_place, r.w.wheel);
    bool its_home = false;
    SUBCASE("on another executor") {}
    SUBCASE("on the executor of the requests") { its_home = true; }
    if (its_home) requests.emplace(r.w.wheel, r.executor);
    for (int what = 0; what < 7; ++what) {
        CAPTURE(what);
        r.called = r.executed = 0;
        if (what != 5) requests->async_wait(1, 10ms, r.cancellable());
        if (what == 0) requests->complete(1, "answer");
        if (what == 1) r.w.pass(10ms);
        if (what == 2) requests->cancel(1);
        if (what == 3) r.emit();
        if (what == 4) r.w.wheel.cancel_all();
        if (what == 5) { // refused
            requests->async_wait(2, 1h, [](std::error_code, const std::string&) {});
            requests->async_wait(2, 1h, r.handler());
        }
        if (what == 6) requests->fail_all(asio::error::eof);
        r.w.run();
        r.expect(1);
    }
}

TEST_CASE("idle_event_is_executed_once") {
    queueing_rig r;
    std::optional<monitor_type> monitor(std::in_place, r.w.wheel, limits{.reader = 10ms});
    bool its_home = false;
    SUBCASE("on another executor") {}
    SUBCASE("on the executor of the monitor") { its_home = true; }
    if (its_home) monitor.emplace(r.w.wheel, r.executor, limits{.reader = 10ms});
    for (int what = 0; what < 5; ++what) {
        CAPTURE(what);
        monitor->reset();
        r.called = r.executed = 0;
        if (what != 4) monitor->async_idle(r.cancellable());
        if (what == 0) r.w.pass(10ms);
        if (what == 1) monitor->cancel();
        if (what == 2) r.emit();
        if (what == 3) monitor.reset();
        r.w.run();
        if (what == 3) {
            r.expect(1);
            monitor.emplace(r.w.wheel, limits{.reader = 10ms});
        } else if (what == 4) { // already started
            monitor->async_idle([](std::error_code, idle_event) {});
            monitor->async_idle(r.handler());
            r.w.run();
            r.expect(1);
            monitor->cancel();
            run_ready(r.loop);
        } else {
            r.expect(1);
        }
    }
}

TEST_CASE("retry_is_executed_once_a_step") {
    queueing_rig r;
    scripted_read read(r.w.io.get_executor());
    basic_retry_policy<manual_clock> policy;
    policy.attempts = 2;
    policy.backoff = backoff::constant(10ms);
    const auto start = [&](auto token) {
        async_retry(r.w.wheel, policy, [&](auto t) { return read.async_run(t); }, std::move(token));
    };
    SUBCASE("attempt") {
        start(r.handler());
        read.complete({}, 1);
        r.expect(1);
    }
    SUBCASE("wait") {
        start(r.handler());
        read.complete_here(asio::error::eof, 0);
        r.w.pass(10ms);
        CHECK(r.executed == 1);
        run_ready(r.loop);
        read.complete_here({}, 1);
        CHECK(r.called == 1);
        CHECK(r.executed == 1);
    }
    SUBCASE("attempt that ends inside its initiating function") {
        read.on_start = [&] { read.complete_here({}, 1); };
        start(r.handler());
        r.expect(1);
    }
    SUBCASE("attempt that ends inside a cancellation") {
        read.on_cancel = [&](asio::cancellation_type) { read.complete_here(asio::error::operation_aborted, 0); };
        start(r.cancellable());
        r.emit();
        r.expect(1);
    }
    SUBCASE("deadline that is over") {
        policy.deadline = basic_deadline<manual_clock>::after(0ns);
        start(r.handler());
        r.expect(1);
    }
}

TEST_CASE("hedge_is_executed_once_a_step") {
    queueing_rig r;
    scripted_read reads[2] = {scripted_read(r.w.io.get_executor()), scripted_read(r.w.io.get_executor())};
    const auto start = [&](auto token) {
        async_hedge(
            r.w.wheel, 10ms, [&](hedge_attempt& a, auto t) { return reads[a.number() - 1].async_run(t); },
            std::move(token));
    };
    SUBCASE("attempt") {
        start(r.handler());
        reads[0].complete({}, 1);
        r.expect(1);
    }
    SUBCASE("timer") {
        start(r.handler());
        r.w.pass(10ms);
        CHECK(r.executed == 1);
        run_ready(r.loop);
        CHECK(reads[1].started == 1);
        CHECK(r.executed == 1);
        reads[0].drop();
        reads[1].drop();
    }
    SUBCASE("attempt that ends inside its initiating function") {
        reads[0].on_start = [&] { reads[0].complete_here({}, 1); };
        start(r.handler());
        r.expect(1);
    }
    SUBCASE("attempt that ends inside a cancellation") {
        reads[0].on_cancel = [&](asio::cancellation_type) {
            reads[0].complete_here(asio::error::operation_aborted, 0);
        };
        start(r.cancellable());
        r.emit();
        r.expect(1);
    }
}

TEST_CASE("limited_operation_is_executed_once") {
    queueing_rig r;
    scripted_read read(r.w.io.get_executor());
    read.on_cancel = [&](asio::cancellation_type) { read.complete_here(asio::error::operation_aborted, 0); };
    SUBCASE("that ends inside the emission of its limit") {
        read.async_run(timeout(r.w.wheel, 10ms, r.handler()));
        r.w.pass(10ms);
    }
    SUBCASE("that ends inside the user's") {
        read.async_run(timeout(r.w.wheel, 10ms, r.cancellable()));
        r.emit();
    }
    SUBCASE("that is refused") {
        r.w.wheel.stop();
        read.async_run(timeout(r.w.wheel, 10ms, r.handler()));
    }
    SUBCASE("that ends inside its initiating function") {
        read.on_start = [&] { read.complete_here({}, 1); };
        read.async_run(timeout(r.w.wheel, 10ms, r.handler()));
    }
    r.expect(1);
}
