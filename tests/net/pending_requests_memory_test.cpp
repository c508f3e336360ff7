// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a request costs in memory, where that comes from, when it is free again, and what happens when there is none.
#include "support/counted_heap.hpp"
#include "support/net/request_rig.hpp"
#include "support/tracking_allocator.hpp"

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <array>
#include <functional>
#include <new>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("handlers_allocator_gives_one_block_free_before_the_handler_runs", R, EVERY_REQUESTS) {
    R r;
    allocation_log log;
    int ran = 0;
    auto handler = asio::bind_allocator(tracking_allocator<void>(log), [&](std::error_code, const std::string&) {
        CHECK(log.live == 0);
        ++ran;
    });
    SUBCASE("answered") {
        r.requests->async_wait(1, 1h, handler);
        CHECK(log.live > 0);
        r.requests->complete(1, "one");
    }
    SUBCASE("timed out") { r.requests->async_wait(1, 10ms, handler); }
    SUBCASE("cancelled") {
        r.requests->async_wait(1, 1h, handler);
        r.requests->cancel(1);
    }
    SUBCASE("aborted by the wheel") {
        r.requests->async_wait(1, 1h, handler);
        r.wheel.cancel_all();
    }
    SUBCASE("the object is destroyed") {
        r.requests->async_wait(1, 1h, handler);
        r.requests.reset();
    }
    CHECK(log.allocations == 1);
    r.pass(10ms);
    CHECK(ran == 1);
    CHECK(log.allocations == 1);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("large_handlers_and_responses_arrive_whole", R, EVERY_REQUESTS) {
    R r;
    using response = std::array<int, 300>;
    pending_requests<int, response, typename R::wheel_type> requests(r.wheel, r.home);
    struct large {
        alignas(64) std::array<int, 400> fill;
        bool* arrived;
        void operator()(std::error_code ec, const response& whole) const {
            for (int i = 0; i < 400; ++i) REQUIRE(fill[static_cast<std::size_t>(i)] == i);
            for (int i = 0; i < 300; ++i) REQUIRE(whole[static_cast<std::size_t>(i)] == -i);
            *arrived = !ec;
        }
    };
    bool arrived = false;
    large handler{{}, &arrived};
    response answer{};
    for (int i = 0; i < 400; ++i) handler.fill[static_cast<std::size_t>(i)] = i;
    for (int i = 0; i < 300; ++i) answer[static_cast<std::size_t>(i)] = -i;
    requests.async_wait(1, 1h, handler);
    CHECK(requests.complete(1, answer));
    r.run();
    CHECK(arrived);
}

TEST_CASE_TEMPLATE("steady_state_allocates_nothing", R, EVERY_REQUESTS) {
    constexpr int in_flight = 300;
    R r({.reserve = in_flight}, {.reserve = 4 * in_flight});
    std::array<asio::cancellation_signal, in_flight> signals;
    std::size_t counted = 0;
    int ended = 0, key = 0;
    const auto handler = [&](std::error_code, const std::string&) { ++ended; };
    const auto start = [&] {
        const auto s = static_cast<std::size_t>(key % in_flight);
        const auto slot = signals[s].slot();
        if (s % 10 == 1)
            r.requests->async_wait(key, 1s, asio::bind_cancellation_slot(slot, handler));
        else if (s % 10 == 2)
            r.requests->async_wait(key, 10ms, handler); // times out
        else
            r.requests->async_wait(key, R::limit::from_write(1s), handler);
        if (s % 10 > 5) r.requests->written(key);
        ++key;
    };
    // Inside a handler of the context, as a read loop is: there Asio recycles its own memory.
    const auto round = [&](bool counting) {
        asio::post(r.home, [&, counting] {
            const std::size_t before = allocations;
            const int first = key;
            for (int i = 0; i < in_flight; ++i) start();
            for (int k = first; k < key; ++k) {
                const auto s = static_cast<std::size_t>(k % in_flight);
                if (s % 10 == 1)
                    signals[s].emit(asio::cancellation_type::terminal);
                else if (s % 10 != 2)
                    r.requests->complete(k, "short");
            }
            if (counting) counted += allocations - before;
        });
        r.run();
        r.pass(10ms);
    };
    for (int i = 0; i < 20; ++i) round(false);
    for (int i = 0; i < 50; ++i) round(true);
    CHECK(counted == 0);
    CHECK(ended == 70 * in_flight);
    CHECK(r.requests->stats().timed_out == 70 * in_flight / 10);
}

TEST_CASE_TEMPLATE("reserve_the_table_does_not_grow", R, EVERY_REQUESTS) {
    R r({.reserve = 1000}, {.reserve = 1000});
    r.ask(-1);
    r.requests->complete(-1, "");
    r.run();
    const auto ask_all = [&](auto handler, int first) {
        const std::size_t before = allocations;
        for (int key = first; key < first + 1000; ++key) r.requests->async_wait(key, typename R::deadline(), handler);
        return allocations - before;
    };
    const auto handler = [](std::error_code, const std::string&) {};
    CHECK(ask_all(handler, 0) < 30);   // pages of the pool, no tables
    CHECK(ask_all(handler, 1000) > 0); // twice as many: it does
    CHECK(r.requests->in_flight() == 2000);
    r.requests.reset();
}

TEST_CASE_TEMPLATE("heap_exhausted_the_call_throws_and_nothing_changes", R, EVERY_REQUESTS) {
    R r;
    struct large {
        must_not_run no;
        std::array<std::byte, 1000> fill{};
        void operator()(std::error_code ec, const std::string&) const { no(ec); }
    };
    int destroyed = 0;
    asio::cancellation_signal signal;
    r.ask(1, 10ms);
    const request_stats before = r.requests->stats();
    std::optional<large> handler(large{must_not_run(&destroyed)});
    heap_fails = true;
    CHECK_THROWS_AS(r.requests->async_wait(2, 1h, asio::bind_cancellation_slot(signal.slot(), std::move(*handler))),
                    std::bad_alloc);
    heap_fails = false;
    handler.reset();
    CHECK(destroyed == 1);
    CHECK(r.requests->stats() == before);
    CHECK_FALSE(r.requests->contains(2));
    CHECK(r.wheel.pending() == 1);
    signal.emit(asio::cancellation_type::terminal); // of what was never started
    CHECK(r.ended_after(10ms) == request_book{{1, timed_out, ""}});
    CHECK(r.io.stopped()); // nothing holds it
}

TEST_CASE_TEMPLATE("heap_exhausted_at_each_allocation_in_turn_nothing_is_lost", R, EVERY_REQUESTS) {
    // Slot, block, table, entry of the wheel, driver: whichever fails, the handler is destroyed, and nothing else
    // happens.
    allocation_log log;
    R r;
    int succeeded = 0;
    for (int key = 0; key < 20; ++key) {
        asio::cancellation_signal signal;
        log.fail = key % 2 == 0;
        heap_fails = key % 4 == 1;
        try {
            r.requests->async_wait(
                key, 10ms * (key + 1),
                asio::bind_cancellation_slot(
                    signal.slot(), asio::bind_allocator(tracking_allocator<void>(log), book_keeper(r.book, key))));
            ++succeeded;
        } catch (const std::bad_alloc&) {
            heap_fails = false; // for what reports
            CHECK_FALSE(r.requests->contains(key));
        }
        heap_fails = false;
        log.fail = false;
        CHECK(counts_agree(r.requests->stats()));
        CHECK(r.requests->in_flight() == static_cast<std::size_t>(succeeded));
        CHECK(r.wheel.pending() == static_cast<std::size_t>(succeeded));
    }
    CHECK(succeeded >= 5);
    CHECK(r.ended_after(1s).size() == static_cast<std::size_t>(succeeded));
    CHECK(log.live == 0);
}
