// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where handlers run, what keeps run() from returning, and what the strand may do while a timeout is on its way to it.
#include "support/net/request_rig.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/thread_pool.hpp>

#include <functional>
#include <future>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Runs `f` on the strand after the wheel's turn, before the strand has heard of it.
void between_turn_and_strand(requests_on_strand& r, std::chrono::nanoseconds passed, std::function<void()> f) {
    manual_clock::advance(passed); // posts the turn
    asio::post(r.home, [&r, f = std::move(f)] {
        CHECK(r.wheel.pending() == 0);
        f();
    });
    r.run();
}

} // namespace

TEST_CASE("between_turn_and_strand_an_answer_wins") {
    requests_on_strand r;
    for (int key = 1; key <= 3; ++key) r.ask(key, 10ms);
    between_turn_and_strand(r, 10ms, [&] {
        CHECK(r.requests->in_flight() == 3);
        CHECK(r.requests->complete(2, "two"));
        CHECK(r.requests->fail(3, asio::error::eof));
    });
    CHECK(r.ended() == request_book{{2, {}, "two"}, {3, asio::error::eof, ""}, {1, timed_out, ""}});
    CHECK(r.requests->stats().timed_out == 1);
}

TEST_CASE("between_turn_and_strand_the_request_is_still_in_flight") {
    requests_on_strand r;
    r.ask(1, 10ms);
    r.ask(2, requests_on_strand::limit::from_write(1h, requests_on_strand::deadline::after(10ms)));
    between_turn_and_strand(r, 10ms, [&] {
        r.ask(1);                      // a duplicate
        CHECK(r.requests->written(2)); // too late
        CHECK_FALSE(r.requests->written(2));
    });
    CHECK(r.requests->stats().refused == 1);
    CHECK(r.requests->stats().timed_out == 2);
    CHECK(r.ended().size() == 3);
}

TEST_CASE("between_turn_and_strand_all_are_ended_and_memory_is_used_again") {
    requests_on_strand r;
    for (int key = 1; key <= 3; ++key) r.ask(key, 10ms);
    between_turn_and_strand(r, 10ms, [&] {
        CHECK(r.requests->cancel(2));
        CHECK(r.requests->fail_all(asio::error::eof) == 2);
        for (int key = 1; key <= 3; ++key) r.ask(key, 20ms); // these are not meant
    });
    CHECK(r.ended().size() == 3);
    CHECK(r.requests->in_flight() == 3);
    CHECK(r.requests->stats().timed_out == 0);
    CHECK(r.ended_after(20ms).size() == 3);
}

TEST_CASE("between_turn_and_strand_the_object_is_destroyed") {
    requests_on_strand r;
    for (int key = 1; key <= 3; ++key) r.ask(key, 10ms);
    between_turn_and_strand(r, 10ms, [&] { r.requests.reset(); });
    CHECK(r.book == request_book{{1, aborted, ""}, {2, aborted, ""}, {3, aborted, ""}});
}

TEST_CASE_TEMPLATE("handlers_without_an_executor_run_on_that_of_the_object", R, EVERY_REQUESTS) {
    R r;
    int on_home = 0;
    const auto handler = [&](std::error_code, const std::string&) {
        if (!R::on_strand || r.strand.running_in_this_thread()) ++on_home;
    };
    for (int key = 0; key < 6; ++key) r.requests->async_wait(key, 10ms, handler);
    r.requests->async_wait(0, 10ms, handler); // refused
    r.requests->complete(0, "");
    r.requests->cancel(1);
    r.requests->fail(2, asio::error::eof);
    r.pass(10ms);
    r.requests->async_wait(9, 1h, handler);
    r.requests.reset();
    r.run();
    CHECK(on_home == 8);
}

TEST_CASE_TEMPLATE("handlers_bound_to_another_context_run_there_and_keep_it_running", R, EVERY_REQUESTS) {
    asio::io_context other;
    R r;
    int ran = 0;
    const auto ask = [&](int key, std::chrono::nanoseconds limit) {
        r.requests->async_wait(key, limit,
                               asio::bind_executor(other, [&](std::error_code, const std::string&) { ++ran; }));
    };
    ask(1, 10ms);
    ask(2, 1h);
    CHECK(run_ready(other) == 0);
    CHECK_FALSE(other.stopped()); // it has work
    r.requests->complete(2, "");
    ask(1, 1h); // refused
    r.pass(10ms);
    CHECK(ran == 0);
    run_ready(other);
    CHECK(ran == 3);
    CHECK(other.stopped());
}

TEST_CASE("handler_bound_to_a_thread_pool_runs_on_its_thread") {
    asio::thread_pool pool(1);
    requests_at_home r;
    std::promise<std::thread::id> ran;
    r.requests->async_wait(1, 10ms, asio::bind_executor(pool, [&](std::error_code, const std::string&) {
                               ran.set_value(std::this_thread::get_id());
                           }));
    r.pass(10ms);
    CHECK(ran.get_future().get() != std::this_thread::get_id());
    pool.join();
}

TEST_CASE("wheel_on_another_context_the_requests_own_context_is_kept_running") {
    asio::io_context wheels, ours;
    testing::manual_timer_wheel wheel(wheels);
    request_book book;
    {
        pending_requests<int, std::string, testing::manual_timer_wheel> requests(wheel, ours.get_executor());
        requests.async_wait(1, 10ms, book_keeper(book, 1));
        run_ready(ours);
        CHECK_FALSE(ours.stopped());
        pass(wheels, 10ms);
        CHECK(book.empty());
        CHECK(requests.contains(1));
        run_ready(ours);
        CHECK(book == request_book{{1, timed_out, ""}});
        CHECK(ours.stopped());
    }
}

TEST_CASE_TEMPLATE("run_returns_when_the_last_request_has_ended", R, EVERY_REQUESTS) {
    R r;
    r.run();
    CHECK(r.io.stopped());
    r.ask(1, typename R::deadline());
    r.ask(2, typename R::deadline());
    r.run();
    CHECK_FALSE(r.io.stopped());
    r.requests->complete(1, "");
    r.run();
    CHECK_FALSE(r.io.stopped());
    r.requests->complete(2, "");
    r.run();
    CHECK(r.io.stopped());
    CHECK(r.book.size() == 2);
}

TEST_CASE_TEMPLATE("cancellation_slot_aborts_its_request_only", R, EVERY_REQUESTS) {
    for (const auto type :
         {asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total}) {
        R r;
        asio::cancellation_signal signal;
        r.ask(1);
        r.requests->async_wait(2, 1h, asio::bind_cancellation_slot(signal.slot(), book_keeper(r.book, 2)));
        signal.emit(asio::cancellation_type::none);
        CHECK(r.requests->contains(2));
        signal.emit(type);
        CHECK(r.book.empty());
        CHECK(r.requests->in_flight() == 1);
        signal.emit(type); // its end is decided
        CHECK(r.ended() == request_book{{2, aborted, ""}});
        CHECK(r.requests->stats().cancelled == 1);
        signal.emit(type); // over
        CHECK(r.requests->contains(1));
    }
}

TEST_CASE_TEMPLATE("cancellation_slot_of_an_ended_request_does_not_touch_the_next_one", R, EVERY_REQUESTS) {
    R r;
    asio::cancellation_signal stale, other, refused;
    const auto ask = [&](asio::cancellation_signal& s, int key, std::chrono::nanoseconds limit) {
        r.requests->async_wait(key, limit, asio::bind_cancellation_slot(s.slot(), book_keeper(r.book, key)));
    };
    ask(stale, 1, 1h);
    ask(refused, 1, 1h);
    r.requests->complete(1, "one");
    ask(other, 1, 1h); // may have the very block of the first
    stale.emit(asio::cancellation_type::terminal);
    refused.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(r.requests->contains(1));
    other.emit(asio::cancellation_type::terminal);
    ask(stale, 2, 10ms);
    r.pass(10ms);
    stale.emit(asio::cancellation_type::terminal);
    r.requests.reset();
    r.run();
    stale.emit(asio::cancellation_type::terminal);
    CHECK(r.book.size() == 4);
}

TEST_CASE("cancellation_slot_between_turn_and_strand_aborts") {
    requests_on_strand r;
    asio::cancellation_signal signal;
    r.requests->async_wait(1, 10ms, asio::bind_cancellation_slot(signal.slot(), book_keeper(r.book, 1)));
    between_turn_and_strand(r, 10ms, [&] { signal.emit(asio::cancellation_type::total); });
    CHECK(r.book == request_book{{1, aborted, ""}});
}
