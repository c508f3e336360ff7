// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often the wheel asks the heap, and what happens when the heap says no.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/counted_heap.hpp"

#include <array>
#include <new>
#include <optional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("steady_state_schedule_cancel_reschedule_fire_allocate_nothing") {
    virtual_wheel w({.reserve = 1000});
    std::vector<manual_timer_wheel::token_type> tokens(500);
    int fired = 0;
    std::size_t by_the_clock = 0; // its posts: a real driver has a system call there
    const auto tick = [&] {
        const std::size_t before = allocations;
        manual_clock::advance(10ms);
        by_the_clock += allocations - before;
        w.run();
    };
    const auto round = [&] {
        for (auto& t : tokens) {
            t.cancel();
            t = w.wheel.schedule(50ms, [&fired] { ++fired; });
            t.reschedule(80ms);
        }
        for (int i = 0; i < 20; ++i) w.wheel.async_wait(15ms, [&fired](std::error_code) { ++fired; });
        tick();
        tick();
    };
    for (int i = 0; i < 20; ++i) round();
    const std::size_t before = allocations - by_the_clock;
    for (int i = 0; i < 200; ++i) round();
    CHECK(allocations - by_the_clock == before);
    CHECK(fired >= 219 * 20);
}

TEST_CASE("heap_exhausted_schedule_throws_and_nothing_changes") {
    virtual_wheel w;
    struct large {
        must_not_run no;
        std::array<std::byte, 1000> fill{};
        void operator()() const { no(); }
        void operator()(std::error_code ec) const { no(ec); }
    };
    int destroyed = 0;
    std::optional<large> callable(large{must_not_run(&destroyed)}), handler(large{must_not_run(&destroyed)});
    heap_fails = true;
    CHECK_THROWS_AS(w.wheel.schedule(10ms, std::move(*callable)), std::bad_alloc);
    CHECK_THROWS_AS(w.wheel.async_wait(10ms, std::move(*handler)), std::bad_alloc);
    heap_fails = false;
    callable.reset();
    handler.reset();
    CHECK(destroyed == 2);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.stats().scheduled == 0);
    bool done = false;
    w.wheel.async_wait(10ms, must_complete({}, &done));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE("heap_exhausted_stop_with_a_visitor_throws_and_loses_nobody") {
    virtual_wheel w;
    bool done = false, late = false;
    w.wheel.async_wait(10ms, must_abort(&done));
    w.wheel.async_wait(1h, must_abort(&late));
    heap_fails = true;
    CHECK_THROWS_AS(w.wheel.stop([](manual_clock::time_point) { FAIL_CHECK("visited"); }), std::bad_alloc);
    heap_fails = false;
    CHECK(w.wheel.pending() == 2);
    int visited = 0;
    CHECK(w.wheel.stop([&](manual_clock::time_point) { ++visited; }) == 2);
    CHECK(visited == 2);
    w.run();
    CHECK(done);
    CHECK(late);
}

TEST_CASE("heap_exhausted_wheel_is_not_made_and_the_next_one_is") {
    asio::io_context io;
    const auto cost_of_a_wheel = [&io] {
        const std::size_t before = allocations;
        const manual_timer_wheel wheel(io);
        return allocations - before;
    };
    cost_of_a_wheel(); // leaves a body to be used again
    const std::size_t cost = cost_of_a_wheel();
    for (int i = 0; i < 3; ++i) {
        heap_fails = true;
        CHECK_THROWS_AS(manual_timer_wheel(io, {.slots = 4096}), std::bad_alloc);
        heap_fails = false;
    }
    CHECK(cost_of_a_wheel() == cost); // the same body, not a new one
    manual_timer_wheel wheel(io);
    bool done = false;
    wheel.async_wait(10ms, must_complete({}, &done));
    pass(io, 10ms);
    CHECK(done);
}
