// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An async_idle allocates once, through its handler's allocator, and has freed that before the handler runs.
#include "support/asio/failing_executor.hpp"
#include "support/net/idle_rig.hpp"
#include "support/tracking_allocator.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <doctest/doctest.h>

#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct tracked {
    using allocator_type = tracking_allocator<void>;
    allocation_log* log;
    std::vector<std::error_code>* results;
    allocator_type get_allocator() const noexcept { return allocator_type(*log); }
    void operator()(std::error_code ec, idle_event) const {
        CHECK(log->live == 0);
        results->push_back(ec);
    }
};

/// Cannot be moved into the operation.
struct immovable : tracked {
    immovable(allocation_log* memory, std::vector<std::error_code>* r) : tracked{memory, r} {}
    immovable(const immovable& other) : tracked(other) { throw std::length_error("no"); }
};

} // namespace

TEST_CASE_TEMPLATE("async_idle_whose_handler_cannot_be_moved_throws_and_gives_all_memory_back", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    allocation_log memory;
    std::vector<std::error_code> results;
    immovable handler(&memory, &results);
    CHECK_THROWS_AS(r.idle.async_idle(handler), std::length_error);
    CHECK(memory.live == 0);
    CHECK_FALSE(r.idle.waiting());
    CHECK(r.wheel.pending() == 0);
    r.idle.async_idle(tracked{&memory, &results});
    r.pass(10s);
    CHECK(results.size() == 1);
}

TEST_CASE_TEMPLATE("async_idle_allocates_once_however_often_it_looks", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    allocation_log memory;
    std::vector<std::error_code> results;
    r.idle.async_idle(tracked{&memory, &results});
    for (int i = 0; i < 5; ++i) {
        r.pass(9s);
        r.idle.touch();
    }
    CHECK(memory.allocations == 1);
    r.pass(10s);
    CHECK(results.size() == 1);
    CHECK_FALSE(results.at(0));
    CHECK(memory.live == 0);
    CHECK(memory.allocations == 1);
}

TEST_CASE_TEMPLATE("async_idle_elsewhere_allocates_once_however_often_it_looks", Wheel, BOTH_WHEELS) {
    asio::io_context io, home;
    Wheel wheel(io, {.tick = 1ms});
    idle_monitor<Wheel> idle(wheel, home.get_executor(), {.reader = 10s});
    allocation_log memory;
    std::vector<std::error_code> results;
    for (std::size_t wait = 1; wait <= 3; ++wait) {
        idle.reset();
        idle.async_idle(tracked{&memory, &results});
        for (int i = 0; i < 5; ++i) {
            pass(io, 9s);
            run_ready(home);
            idle.touch();
        }
        pass(io, 10s);
        run_ready(home);
        CHECK(results.size() == wait);
        CHECK(memory.live == 0);
        CHECK(memory.allocations == wait);
    }
}

TEST_CASE_TEMPLATE("async_idle_without_memory_throws_and_can_be_started_again", Wheel, BOTH_WHEELS) {
    idle_rig<Wheel> r({.reader = 10s});
    allocation_log memory;
    memory.fail = true;
    std::vector<std::error_code> results;
    CHECK_THROWS_AS(r.idle.async_idle(tracked{&memory, &results}), std::bad_alloc);
    CHECK(r.wheel.pending() == 0);
    memory.fail = false;
    r.idle.async_idle(tracked{&memory, &results});
    r.pass(10s);
    CHECK(results.size() == 1);
}

TEST_CASE_TEMPLATE("async_idle_that_throws_leaves_nothing_in_the_slot", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    bool fail = false;
    Wheel wheel(io, {.tick = 1ms});
    idle_monitor<Wheel> idle(wheel, failing_executor(io, fail), {.reader = 10s});
    pass(io, 10s); // it is due
    asio::cancellation_signal signal;
    idle_log log;
    fail = true;
    CHECK_THROWS_AS(idle.async_idle(asio::bind_cancellation_slot(signal.slot(), log.handler())), std::bad_alloc);
    CHECK_FALSE(signal.slot().has_handler());
    signal.emit(asio::cancellation_type::all);
    fail = false;
    idle.async_idle(log.handler());
    run_ready(io);
    CHECK(log.size() == 1);
}
