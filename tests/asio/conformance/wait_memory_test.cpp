// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A handler's own allocator: used for its wait, given back before the handler runs, and allowed to fail.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/tracking_allocator.hpp"

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>

#include <array>
#include <utility>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

template <class Handler>
auto with(allocation_log& log, Handler&& handler) {
    return asio::bind_allocator(tracking_allocator<void>(log), std::forward<Handler>(handler));
}

} // namespace

TEST_CASE_TEMPLATE("allocator_used_nothing_live_when_the_handler_runs", W, EVERY_WAIT) {
    W w;
    allocation_log log;
    int runs = 0;
    const auto handler = [&](std::error_code) {
        CHECK(log.live == 0);
        ++runs;
    };
    w.wait(10ms, with(log, handler)); // expires
    CHECK(log.allocations > 0);
    CHECK(log.live > 0);
    w.pass(10ms);
    w.wait(1h, with(log, handler)); // is aborted
    CHECK(log.live > 0);
    w.wheel.cancel_all();
    w.run();
    w.wheel.stop();
    w.wait(1h, with(log, handler)); // is refused
    w.run();
    CHECK(runs == 3);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("allocator_used_for_every_wait_of_a_timer", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    allocation_log logs[3];
    for (auto& log : logs) timer.async_wait(with(log, must_complete()));
    for (const auto& log : logs) CHECK(log.live > 0);
    w.pass(10ms);
    for (const auto& log : logs) CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("allocator_throws_the_start_throws_and_leaks_nothing", W, EVERY_WAIT) {
    W w;
    allocation_log log;
    asio::cancellation_signal signal;
    int destroyed = 0;
    log.fail = true;
    CHECK_THROWS_AS(w.wait(10ms, with(log, asio::bind_cancellation_slot(signal.slot(), must_not_run(&destroyed)))),
                    std::bad_alloc);
    CHECK(destroyed == 1);
    CHECK(log.live == 0);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.stats().scheduled == 0);
    signal.emit(asio::cancellation_type::terminal);
    log.fail = false;
    bool done = false;
    w.wait(10ms, with(log, must_complete({}, &done)));
    w.pass(10ms);
    CHECK(done);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("allocator_throws_the_other_waits_of_the_timer_go_on", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    allocation_log log;
    bool done[2] = {};
    timer.async_wait(must_complete({}, &done[0]));
    log.fail = true;
    CHECK_THROWS_AS(timer.async_wait(with(log, must_not_run())), std::bad_alloc);
    timer.async_wait(must_complete({}, &done[1]));
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(done[0]);
    CHECK(done[1]);
}

TEST_CASE_TEMPLATE("allocator_and_executor_and_slot_all_are_honoured", W, EVERY_WAIT) {
    W w;
    asio::io_context other;
    allocation_log log;
    asio::cancellation_signal signal;
    bool done = false;
    w.wait(1h, asio::bind_executor(other, with(log, asio::bind_cancellation_slot(signal.slot(), must_abort(&done)))));
    CHECK(log.live > 0);
    signal.emit(asio::cancellation_type::partial);
    w.run();
    CHECK_FALSE(done);
    run_ready(other);
    CHECK(done);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("allocator_context_destroyed_memory_is_given_back", W, EVERY_WAIT) {
    allocation_log log;
    {
        W w;
        w.wait(1h, with(log, must_not_run()));
        w.wait(1h, with(log, must_not_run()));
        w.wheel.cancel_all();
        w.wait(0ms, with(log, must_not_run()));
    }
    CHECK(log.allocations > 0);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("handler_of_any_size_and_alignment_arrives_whole", W, EVERY_WAIT) {
    W w;
    int runs = 0;
    const auto check = [&]<std::size_t Size, std::size_t Align>(std::index_sequence<Size, Align>) {
        struct bulky {
            alignas(Align) std::array<unsigned char, Size> fill;
            int* done;
            void operator()(std::error_code) const {
                CHECK(reinterpret_cast<std::uintptr_t>(fill.data()) % Align == 0);
                for (const unsigned char b : fill) REQUIRE(b == 0x5A);
                ++*done;
            }
        } handler{{}, &runs};
        handler.fill.fill(0x5A);
        w.wait(10ms, handler);
        w.wait(10ms, handler);
    };
    check(std::index_sequence<1, 1>());
    check(std::index_sequence<472, 1>()); // the pool's limit lies here
    check(std::index_sequence<473, 1>());
    check(std::index_sequence<5000, 1>());
    check(std::index_sequence<32, 32>());
    check(std::index_sequence<64, 64>());
    check(std::index_sequence<4096, 256>());
    w.pass(10ms);
    CHECK(runs == 14);
}
