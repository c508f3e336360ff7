// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What most tests include, read once for all of them. Each file includes what it needs all the same: it may be compiled
// without. Nothing calls these functions: what they use is compiled with the header.
#pragma once

#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifdef __clang__ // GCC would compile them in each file that has this header, which doubles its time
namespace precompiled {

inline asio::awaitable<void> coroutine() {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    co_await timer.async_wait(asio::use_awaitable);
}

template <class Wheel>
void everything_on(Wheel& wheel) {
    using namespace std::chrono_literals;
    auto token = wheel.schedule(5s, [] {});
    token.reschedule(5s);
    token.cancel();
    CHECK(!token.pending());
    wheel.async_wait(5s, [](std::error_code) {});
    CHECK(cogwheel_tests::counts_agree(wheel.stats()));
    CHECK(wheel.stats().fired == 1);
    CHECK(wheel.pending() == 0);
    wheel.stop();
}

template <class Clock, class Locking, class Core, class Executor>
asio::awaitable<void> waits_on(cogwheel::basic_timer_wheel<Clock, Locking, Core, Executor>& wheel) {
    using namespace std::chrono_literals;
    co_await wheel.async_wait(5ms, asio::use_awaitable);
    cogwheel::basic_wheel_timer<cogwheel::basic_timer_wheel<Clock, Locking, Core>, Executor> timer(wheel, 1h);
    timer.expires_after(5us);
    timer.async_wait([](std::error_code) {});
    co_await timer.async_wait(asio::use_awaitable);
    asio::steady_timer operation(co_await asio::this_coro::executor);
    co_await operation.async_wait(cogwheel::timeout(wheel, 5ms, asio::use_awaitable));
}

template <class A, class B>
void compared(A a, B b) {
    const A c = a;
    CHECK(a == b);
    CHECK(a == B(b));
    CHECK(c == B(b));
    CHECK(A(a) == b);
    CHECK(A(a) == B(b));
}

inline void everything(cogwheel_tests::virtual_wheel& w) {
    using namespace std::chrono_literals;
    everything_on(w.wheel);
    cogwheel::timer_wheel wheel{w.io};
    everything_on(wheel);
    cogwheel_tests::manual_local_timer_wheel local(w.io);
    everything_on(local);
    w.pass(std::chrono::seconds(1));
    const asio::any_io_executor executor = asio::make_strand(w.io);
    const asio::any_io_executor strand = asio::make_strand(executor);
    asio::thread_pool threads;
    const asio::any_io_executor pool = threads.get_executor();
    asio::post(strand, [] {});
    asio::post(pool, [] {});
    asio::post(w.io, [] {});
    asio::post(threads, [] {});
    asio::post(executor, [] {});
    asio::dispatch(executor, [] {});
    asio::co_spawn(w.io, coroutine(), asio::detached);
    asio::co_spawn(executor, coroutine(), asio::detached);
    asio::co_spawn(w.io, waits_on(w.wheel), asio::detached);
    asio::co_spawn(w.io, waits_on(local), asio::detached);
    CHECK(std::error_code() == asio::error::operation_aborted);
    CHECK(std::vector<int>(1) == std::vector<int>(2));
    CHECK(std::string("a") == "b");
    compared(1, 1);
    compared(std::size_t(1), 1);
    compared(std::size_t(1), std::size_t(1));
    compared(std::int64_t(1), 1);
    compared(true, true);
    compared(std::chrono::nanoseconds(1), std::chrono::nanoseconds(1));
    compared(std::chrono::nanoseconds(1), 1ms);
    compared(std::string("a"), std::string("b"));
    compared(std::error_code(), asio::error::operation_aborted);
    CHECK(std::chrono::nanoseconds(1) == 1s);
    CHECK(w.run() == 1);
}

} // namespace precompiled
#endif
