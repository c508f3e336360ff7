// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The completion handler that durable operations hold until they end.
#include <cogwheel/durable/detail/completion.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/io_context.hpp>
#include <asio/thread_pool.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

using cogwheel::detail::add_waiter;
using cogwheel::detail::completion;

TEST_CASE("completion_that_is_cancelled_drops_the_result_that_comes_later") {
    asio::io_context io;
    asio::cancellation_signal signal;
    std::error_code seen;
    int calls = 0;
    auto c = completion<int>::of(asio::bind_cancellation_slot(signal.slot(),
                                                              [&](std::error_code ec, int) {
                                                                  seen = ec;
                                                                  ++calls;
                                                              }),
                                 io.get_executor());
    CHECK(!c.cancelled());
    signal.emit(asio::cancellation_type::terminal);
    io.poll();
    CHECK(c.cancelled());
    CHECK(seen == asio::error::operation_aborted);
    c({}, 7);
    io.restart();
    io.poll();
    CHECK(calls == 1);
}

TEST_CASE("completion_waiters_that_are_cancelled_leave_before_the_list_grows") {
    asio::io_context io;
    std::vector<completion<void>> waiting;
    std::size_t most = 0;
    bool kept = false;
    add_waiter(waiting, completion<void>::of([&](std::error_code ec) { kept = !ec; }, io.get_executor()));
    for (int i = 0; i < 1'000; ++i) {
        asio::cancellation_signal signal;
        add_waiter(waiting, completion<void>::of(asio::bind_cancellation_slot(signal.slot(), [](std::error_code) {}),
                                                 io.get_executor()));
        signal.emit(asio::cancellation_type::terminal);
        io.restart();
        io.poll();
        most = std::max(most, waiting.size());
    }
    CHECK(most <= 4);
    waiting.front()({});
    io.restart();
    io.poll();
    CHECK(kept);
}

TEST_CASE("completion_cancelled_and_completed_by_two_threads_calls_its_handler_once") {
    for (int i = 0; i < 500; ++i) {
        asio::thread_pool pool(2);
        asio::cancellation_signal signal;
        std::atomic<int> calls{0};
        auto value = std::make_unique<int>(i); // moved out of the handler once
        auto c = completion<void>::of(
            asio::bind_cancellation_slot(signal.slot(),
                                         [&calls, v = std::move(value)](std::error_code) { calls += *v >= 0; }),
            pool.get_executor());
        signal.emit(asio::cancellation_type::terminal);
        c({});
        pool.join();
        CHECK(calls == 1);
    }
}
