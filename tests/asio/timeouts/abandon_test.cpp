// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Operations that ignore cancellation: they complete at once, and their late results are destroyed.
#include "support/asio/scripted_operation.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel_of.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using look_up = scripted_operation<void(std::error_code, std::shared_ptr<int>)>;

struct found_answer {
    std::error_code ec;
    std::shared_ptr<int> answer;
    int times = 0;

    auto handler() {
        return [this](std::error_code e, std::shared_ptr<int> a) {
            ec = e;
            answer = std::move(a);
            ++times;
        };
    }
};

struct work_in_pool {
    using executor_type = asio::thread_pool::executor_type;
    executor_type executor;
    executor_type get_executor() const noexcept { return executor; }
    template <class Handler>
    void operator()(Handler handler) const {
        asio::post(executor, [h = std::move(handler)]() mutable {
            const auto until = std::chrono::steady_clock::now() + 20us;
            while (std::chrono::steady_clock::now() < until) {
            }
            std::move(h)(std::error_code(), std::string("a result that does not fit into a small buffer"));
        });
    }
};

template <class Wheel>
struct abandon_rig {
    asio::io_context io;
    Wheel wheel;
    look_up resolver;
    found_answer found;

    explicit abandon_rig(const wheel_options& options = {}) : wheel(io, options), resolver(io.get_executor()) {}

    void start(std::chrono::milliseconds delay = 10ms) { resolver.async_run(abandon(wheel, delay, found.handler())); }
};

} // namespace

TEST_CASE_TEMPLATE("abandon_operation_that_ends_in_time", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    r.start();
    CHECK(r.wheel.pending() == 1);
    r.resolver.complete({}, std::make_shared<int>(7));
    run_ready(r.io);
    CHECK(r.found.times == 1);
    CHECK_FALSE(r.found.ec);
    CHECK(*r.found.answer == 7);
    CHECK(r.wheel.pending() == 0);
    pass(r.io, 30ms);
    CHECK(r.found.times == 1);
}

TEST_CASE_TEMPLATE("abandon_operation_that_is_too_slow_completes_at_once_and_its_result_is_destroyed", Wheel,
                   BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    r.start();
    pass(r.io, 9ms);
    CHECK(r.found.times == 0);
    pass(r.io, 11ms);
    CHECK(r.found.times == 1);
    CHECK(r.found.ec == asio::error::timed_out);
    CHECK(r.resolver.cancelled.empty());
    auto late = std::make_shared<int>(7);
    const std::weak_ptr<int> watch = late;
    r.resolver.complete({}, std::move(late));
    run_ready(r.io);
    CHECK(watch.expired());
    CHECK(r.found.times == 1);
}

TEST_CASE_TEMPLATE("abandon_at_a_point_or_from_a_scope", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    const auto at = manual_clock::now() + 10ms;
    SUBCASE("a point") { r.resolver.async_run(abandon(r.wheel, at, r.found.handler())); }
    SUBCASE("a scope") { r.resolver.async_run(timeout_scope(r.wheel, at).abandon(r.found.handler())); }
    SUBCASE("the scope's duration counts from its construction") {
        const timeout_scope within(r.wheel, 10ms);
        pass(r.io, 5ms);
        r.resolver.async_run(within.abandon(r.found.handler()));
    }
    pass(r.io, at - manual_clock::now() - 1ms);
    CHECK(r.found.times == 0);
    pass(r.io, 11ms);
    CHECK(r.found.times == 1);
    CHECK(r.found.ec == asio::error::timed_out);
    CHECK(r.resolver.cancelled.empty());
    r.resolver.complete({}, std::make_shared<int>(7));
    run_ready(r.io);
}

TEST_CASE_TEMPLATE("abandon_operation_that_is_cancelled_passes_it_on_and_completes_at_once", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    asio::cancellation_signal signal;
    r.resolver.async_run(abandon(r.wheel, 10ms, asio::bind_cancellation_slot(signal.slot(), r.found.handler())));
    SUBCASE("it_ignores_that") {
        signal.emit(asio::cancellation_type::terminal);
        CHECK(r.found.times == 0); // not inside the emission
        signal.emit(asio::cancellation_type::terminal);
    }
    SUBCASE("it_completes") {
        r.resolver.on_cancel = [&](auto) { r.resolver.complete(asio::error::operation_aborted, nullptr); };
        signal.emit(asio::cancellation_type::partial);
    }
    CHECK_FALSE(r.resolver.cancelled.empty());
    run_ready(r.io);
    CHECK(r.found.times == 1);
    CHECK(r.found.ec == asio::error::operation_aborted);
    pass(r.io, 30ms);
    signal.emit(asio::cancellation_type::terminal); // stale
    if (r.resolver.pending()) r.resolver.complete({}, nullptr);
    run_ready(r.io);
    CHECK(r.found.times == 1);
}

TEST_CASE_TEMPLATE("abandon_operation_whose_wheel_ends", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    r.start();
    SUBCASE("stop") { r.wheel.stop(); }
    SUBCASE("cancel_all") { r.wheel.cancel_all(); }
    SUBCASE("destructor") { const Wheel gone(std::move(r.wheel)); }
    run_ready(r.io);
    CHECK(r.found.times == 1);
    CHECK(r.found.ec == asio::error::operation_aborted);
    r.resolver.complete({}, nullptr);
    run_ready(r.io);
    CHECK(r.found.times == 1);
}

TEST_CASE_TEMPLATE("abandon_operation_that_the_wheel_refuses_does_not_start", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r({.max_pending = 1});
    r.wheel.schedule(1h, [] {});
    asio::cancellation_signal signal;
    r.resolver.async_run(abandon(r.wheel, 10ms, asio::bind_cancellation_slot(signal.slot(), r.found.handler())));
    CHECK(r.found.times == 0);
    run_ready(r.io);
    CHECK(r.resolver.started == 0);
    CHECK(r.found.times == 1);
    CHECK(r.found.ec == errc::too_many_timers);
    signal.emit(asio::cancellation_type::terminal);
}

TEST_CASE_TEMPLATE("abandon_operation_completes_on_its_handlers_executor", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    const auto strand = asio::make_strand(r.io);
    int called = 0;
    const auto handler = [&](std::error_code, const std::shared_ptr<int>&) {
        CHECK(strand.running_in_this_thread());
        ++called;
    };
    r.resolver.async_run(abandon(r.wheel, 10ms, asio::bind_executor(strand, handler)));
    pass(r.io, 30ms);
    CHECK(called == 1);
    r.resolver.complete({}, nullptr);
    r.resolver.async_run(abandon(r.wheel, 10ms, asio::bind_executor(strand, handler)));
    r.resolver.complete({}, nullptr);
    run_ready(r.io);
    CHECK(called == 2);
}

TEST_CASE_TEMPLATE("abandon_operation_whose_handler_is_destroyed_with_it_drops_the_timer", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    const auto held = std::make_shared<int>(1);
    r.resolver.async_run(abandon(r.wheel, 10ms, [held](std::error_code, const std::shared_ptr<int>&) {}));
    CHECK(held.use_count() == 2);
    r.resolver.drop();
    CHECK(held.use_count() == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("abandon_operation_whose_context_is_destroyed_after_or_before_the_timeout") {
    const auto held = std::make_shared<int>(1);
    for (const auto waited : {0ms, 30ms}) {
        {
            asio::io_context io;
            manual_timer_wheel wheel(io);
            look_up resolver(io.get_executor());
            resolver.async_run(abandon(wheel, 10ms, [held](std::error_code, const std::shared_ptr<int>&) {}));
            manual_clock::advance(waited); // a turn may be on its way
        }
        CHECK(held.use_count() == 1);
    }
}

TEST_CASE("abandon_without_a_wheel_as_a_coroutines_default_token_and_as_a_future") {
    asio::io_context io;
    look_up resolver(io.get_executor());
    std::error_code result;
    co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            try {
                co_await resolver.async_run(abandon<manual_timer_wheel>(10ms, asio::use_awaitable));
            } catch (const std::system_error& e) {
                result = e.code();
            }
        },
        asio::detached);
    run_ready(io);
    CHECK(timer_wheel_of<manual_timer_wheel>(io).pending() == 1);
    pass(io, 30ms);
    CHECK(result == asio::error::timed_out);
    resolver.drop();

    auto answer = resolver.async_run(abandon<manual_timer_wheel>(10ms, asio::use_future));
    resolver.complete({}, std::make_shared<int>(3));
    run_ready(io);
    CHECK(*answer.get() == 3);
}

TEST_CASE_TEMPLATE("abandon_token_that_is_a_const_variable_starts_the_operation", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    const auto token = abandon(r.wheel, 10ms, r.found.handler());
    r.resolver.async_run(token);
    CHECK(r.resolver.started == 1);
    pass(r.io, 30ms);
    CHECK(r.found.ec == asio::error::timed_out);
}

TEST_CASE_TEMPLATE("abandon_timer_that_fires_inside_the_initiating_function_waits_for_its_end", Wheel, BOTH_WHEELS) {
    abandon_rig<Wheel> r;
    bool inside = false;
    r.resolver.on_start = [&] {
        inside = true;
        pass(r.io, 30ms); // as another thread would
        CHECK(r.found.times == 0);
        inside = false;
    };
    r.start();
    CHECK(r.found.times == 0);
    run_ready(r.io);
    CHECK(r.found.times == 1);
    CHECK(r.found.ec == asio::error::timed_out);
    CHECK_FALSE(inside);
}

TEST_CASE("abandon_handler_that_owns_its_signal_and_is_destroyed_with_the_operation") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    look_up resolver(io.get_executor());
    auto signal = std::make_unique<asio::cancellation_signal>();
    const auto slot = signal->slot();
    resolver.async_run(abandon(
        wheel, 10ms,
        asio::bind_cancellation_slot(slot, [s = std::move(signal)](std::error_code, const std::shared_ptr<int>&) {})));
    resolver.drop();
    CHECK(wheel.pending() == 0);
}

TEST_CASE("abandon_a_real_resolver") {
    asio::io_context io;
    asio::ip::tcp::resolver resolver(io);
    std::error_code ec = asio::error::would_block;
    resolver.async_resolve("127.0.0.1", "80",
                           abandon(1h, [&](std::error_code e, asio::ip::tcp::resolver::results_type all) {
                               ec = e;
                               CHECK(all.size() == 1);
                           }));
    while (ec == asio::error::would_block) io.run_one();
    CHECK_FALSE(ec);
}

TEST_CASE("abandon_operation_timer_and_signal_on_different_threads_complete_once") {
    asio::thread_pool pool(3);
    timer_wheel wheel(pool);
    std::atomic<int> completed = 0, in_time = 0;
    constexpr int count = 2000;
    for (int i = 0; i < count; ++i) {
        const auto token = abandon(wheel, std::chrono::milliseconds(i % 3), [&](std::error_code ec, std::string) {
            in_time += ec ? 0 : 1;
            ++completed;
        });
        asio::async_initiate<decltype(token), void(std::error_code, std::string)>(work_in_pool{pool.get_executor()},
                                                                                  token);
    }
    pool.join();
    CHECK(completed == count);
    CHECK(in_time <= count);
}

static_assert(owns_its_data<std::string> && owns_its_data<asio::ip::tcp::resolver::results_type>);
static_assert(!owns_its_data<std::size_t> && !owns_its_data<char*> && !owns_its_data<std::string_view>);
