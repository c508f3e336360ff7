// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a limit costs in memory: one block from the handler's allocator, or nothing from the heap.
#include "support/asio/scripted_operation.hpp"
#include "support/counted_heap.hpp"
#include "support/tracking_allocator.hpp"

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <new>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// An operation without any memory of its own: what is allocated beside it is the limit's.
class thrifty_operation {
public:
    template <class Token>
    auto async_run(Token&& token) {
        return asio::async_initiate<Token, void(std::error_code)>(
            [this](auto&& handler) {
                using handler_type = std::decay_t<decltype(handler)>;
                static_assert(sizeof(handler_type) <= sizeof(memory_));
                auto* h = ::new (static_cast<void*>(memory_)) handler_type(std::forward<decltype(handler)>(handler));
                complete_ = [](void* p, std::error_code ec) {
                    handler_type local(std::move(*static_cast<handler_type*>(p)));
                    static_cast<handler_type*>(p)->~handler_type();
                    std::move(local)(ec);
                };
                auto slot = asio::get_associated_cancellation_slot(*h);
                slot.assign([this](asio::cancellation_type) { complete(asio::error::operation_aborted); });
            },
            token);
    }
    void complete(std::error_code ec) { complete_(memory_, ec); }

private:
    // A pointer, and the user's allocator.
    alignas(std::max_align_t) std::byte memory_[2 * sizeof(void*)];
    void (*complete_)(void*, std::error_code) = nullptr;
};

} // namespace

TEST_CASE_TEMPLATE("handlers_allocator_one_allocation_and_free_before_the_handler_runs", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    thrifty_operation op;
    allocation_log log;
    int times = 0;
    std::error_code expected;
    const auto handler = asio::bind_allocator(tracking_allocator<void>(log), [&](std::error_code ec) {
        CHECK(ec == expected);
        CHECK(log.live == 0);
        ++times;
    });
    asio::cancellation_signal signal;
    SUBCASE("operation first") {
        op.async_run(timeout(r.wheel, 10ms, handler));
        CHECK(log.live > 0);
        op.complete({});
    }
    SUBCASE("timer first") {
        expected = asio::error::timed_out;
        op.async_run(timeout(r.wheel, 10ms, handler));
        r.pass(20ms);
    }
    SUBCASE("cancelled by the user") {
        expected = asio::error::operation_aborted;
        op.async_run(timeout(r.wheel, 10ms, asio::bind_cancellation_slot(signal.slot(), handler)));
        asio::post(r.io, [&] { signal.emit(asio::cancellation_type::total); });
        r.run();
    }
    CHECK(times == 1);
    CHECK(log.live == 0);
    if (expected != asio::error::operation_aborted) CHECK(log.allocations == 1); // else a post of Asio's, too
}

TEST_CASE_TEMPLATE("handlers_allocator_is_the_operations_too", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    allocation_log log;
    asio::steady_timer timer(r.io, -1s);
    int times = 0;
    timer.async_wait(timeout(r.wheel, 1h, asio::bind_allocator(tracking_allocator<void>(log), [&](std::error_code ec) {
                                 CHECK_FALSE(ec);
                                 CHECK(log.live == 0);
                                 ++times;
                             })));
    CHECK(log.allocations == 2); // the limit's and the wait's
    r.io.restart();
    while (times == 0) r.io.run_one();
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("steady_state_allocates_nothing", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r({.reserve = 2000});
    constexpr std::size_t in_flight = 1000;
    std::vector<thrifty_operation> ops(in_flight);
    std::deque<asio::cancellation_signal> signals(in_flight / 10);
    std::size_t done = 0, late = 0, by_the_clock = 0;
    const auto handler = [&](std::error_code ec) { ++(ec ? late : done); };
    const auto round = [&] {
        for (std::size_t i = 0; i < in_flight; ++i) {
            // A tenth has a slot, a tenth times out.
            if (i % 10 == 0)
                ops[i].async_run(timeout(r.wheel, 1s, asio::bind_cancellation_slot(signals[i / 10].slot(), handler)));
            else
                ops[i].async_run(timeout(r.wheel, i % 10 == 1 ? 10ms : 1s, handler));
        }
        const std::size_t before = allocations;
        manual_clock::advance(20ms); // the clock's posts are not the wheel's
        by_the_clock += allocations - before;
        r.run();
        for (std::size_t i = 0; i < in_flight; ++i)
            if (i % 10 != 1) ops[i].complete({});
    };
    for (int i = 0; i < 10; ++i) round();
    const std::size_t before = allocations - by_the_clock;
    for (int i = 0; i < 20; ++i) round();
    if (allocations_by_post == 0) CHECK(allocations - by_the_clock == before);
    CHECK(late == 30 * in_flight / 10);
    CHECK(done == 30 * in_flight * 9 / 10);
    CHECK(r.wheel.pending() == 0);
}
