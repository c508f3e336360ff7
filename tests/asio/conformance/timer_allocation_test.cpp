// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often a timer object asks the heap, and what happens when the heap says no.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/counted_heap.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <array>
#include <new>
#include <optional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("steady_state_of_timers_allocates_nothing", T, EVERY_TIMER) {
    T w({.reserve = 200});
    std::vector<typename T::timer_type> timers;
    for (int i = 0; i < 100; ++i) timers.emplace_back(w.wheel);
    std::array<asio::cancellation_signal, 20> signals;
    int ended = 0;
    std::size_t by_the_clock = 0; // its posts: a real driver has a system call there
    const auto handler = [&ended](std::error_code) { ++ended; };
    const auto round = [&] {
        for (auto& t : timers) {
            t.expires_after(30ms);
            t.async_wait(handler);
            t.async_wait(handler);
            t.reschedule(50ms);
        }
        for (std::size_t i = 0; i < signals.size(); ++i) {
            timers[i].async_wait(asio::bind_cancellation_slot(signals[i].slot(), handler));
            signals[i].emit(asio::cancellation_type::terminal);
            timers[i + 20].cancel_one();
            timers[i + 40] = std::move(timers[i + 60]);
            timers[i + 60].expires_after(10ms);
            timers[i + 60].async_wait(handler);
            typename T::timer_type passing(w.wheel, 1h);
            passing.async_wait(handler);
        }
        w.run();
        const std::size_t before = allocations;
        manual_clock::advance(20ms);
        by_the_clock += allocations - before;
        w.run();
    };
    for (int i = 0; i < 20; ++i) round();
    const std::size_t before = allocations - by_the_clock;
    const int ended_before = ended;
    for (int i = 0; i < 100; ++i) round();
    CHECK(allocations - by_the_clock ==
          before + 100 * 2 * allocations_by_post); // of the driver and of the aborted waits
    CHECK(ended - ended_before == 100 * 260);
}

TEST_CASE_TEMPLATE("timer_that_nobody_awaits_allocates_nothing", T, EVERY_TIMER) {
    T w;
    w.run();
    const std::size_t before = allocations;
    {
        typename T::timer_type a(w.wheel, 10ms), b(std::move(a));
        a = std::move(b);
        a.expires_after(1h);
        a.cancel();
    }
    CHECK(allocations == before);
}

TEST_CASE_TEMPLATE("timer_that_outlived_its_wheel_gives_the_impl_back", T, EVERY_TIMER) {
    asio::io_context io;
    const auto cost_of_a_wheel = [&io] {
        const std::size_t before = allocations;
        const typename T::wheel_type wheel(io);
        return allocations - before;
    };
    cost_of_a_wheel(); // leaves a body to be used again
    const std::size_t cost = cost_of_a_wheel();
    {
        std::optional<typename T::wheel_type> wheel(io);
        typename T::timer_type timer(*wheel, 10ms), moved(*wheel);
        timer.async_wait(must_abort());
        wheel.reset();
        moved = std::move(timer);
        timer.async_wait(must_complete(errc::stopped));
    }
    run_ready(io);
    CHECK(cost_of_a_wheel() == cost);
}

TEST_CASE_TEMPLATE("heap_exhausted_the_wait_throws_and_nothing_changes", T, EVERY_TIMER) {
    T w;
    struct large {
        must_not_run no;
        std::array<std::byte, 1000> fill{};
        void operator()(std::error_code ec) const { no(ec); }
    };
    int destroyed = 0;
    std::optional<large> handler(large{must_not_run(&destroyed)});
    typename T::timer_type timer(w.wheel, 10ms);
    heap_fails = true;
    CHECK_THROWS_AS(timer.async_wait(std::move(*handler)), std::bad_alloc);
    heap_fails = false;
    handler.reset();
    CHECK(destroyed == 1);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.stats().scheduled == 0);
    bool done = false;
    timer.async_wait(must_complete({}, &done));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("heap_exhausted_at_every_point_of_the_first_wait_nothing_is_lost", T, EVERY_TIMER) {
    // The timer's place, the wait's block, the slot's memory, an entry in the wheel, the post: each may fail.
    T w;
    typename T::timer_type timer(w.wheel);
    asio::cancellation_signal signal;
    bool done = false;
    heap_fails = true;
    const auto start = [&] { timer.async_wait(asio::bind_cancellation_slot(signal.slot(), [](std::error_code) {})); };
    CHECK_THROWS_AS(start(), std::bad_alloc);
    CHECK(timer.cancel() == 0);
    heap_fails = false;
    CHECK(w.wheel.pending() == 0);
    timer.async_wait(must_complete({}, &done));
    signal.emit(asio::cancellation_type::terminal); // of the wait that was never started
    w.run();
    CHECK(done);
    CHECK(counts_agree(w.wheel.stats()));
}
