// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Handlers that throw, and executors that take no work just now: every count stays right, and nobody is lost.
#include "support/asio/asio_backend.hpp"
#include "support/asio/discarding_executor.hpp"
#include "support/asio/failing_executor.hpp"
#include "support/asio/scripted_driver.hpp"
#include "support/net/request_rig.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <optional>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Runs all, also what comes after an exception. Returns how many there were.
template <class Io>
int run_through(Io& io) {
    for (int thrown = 0;; ++thrown) {
        try {
            run_ready(io);
            return thrown;
        } catch (const std::exception&) {
            // out of run(), as in Asio
        }
    }
}

/// Requests on an executor that fails on demand; the wheel's own does not.
struct failing_rig {
    bool fail = false;
    asio::io_context io;
    testing::manual_timer_wheel wheel{io};
    std::optional<requests_at_home::requests_type> requests;
    request_book book;

    failing_rig() { requests.emplace(wheel, asio::any_io_executor(failing_executor(io, fail))); }
    void ask(int key, std::chrono::nanoseconds limit) { requests->async_wait(key, limit, book_keeper(book, key)); }
};

} // namespace

TEST_CASE_TEMPLATE("request_that_the_wheel_refuses_does_not_hold_run_up", R, EVERY_REQUESTS) {
    R r;
    r.wheel.stop();
    r.ask(1, 1h);
    run_ready(r.io);
    CHECK(r.book.size() == 1);
    CHECK(r.io.stopped()); // no work is left
}

TEST_CASE_TEMPLATE("throwing_handlers_the_others_still_hear", R, EVERY_REQUESTS) {
    R r;
    const auto throwing = [&](std::error_code, const std::string&) { throw std::runtime_error("handler"); };
    for (int key = 0; key < 20; ++key) {
        const auto limit = key < 10 ? std::chrono::nanoseconds(10ms) : std::chrono::nanoseconds(1h);
        if (key % 2 == 0)
            r.requests->async_wait(key, limit, throwing);
        else
            r.ask(key, limit);
    }
    for (int key = 10; key < 15; ++key) r.requests->complete(key, "");
    r.requests->fail(15, asio::error::eof);
    r.requests->cancel(16);
    CHECK(counts_agree(r.requests->stats()));
    manual_clock::advance(10ms);
    CHECK(run_through(r.io) == 5 + 3 + 1);
    CHECK(r.book.size() == 5 + 3);
    CHECK(counts_agree(r.requests->stats()));
    CHECK(r.requests->in_flight() == 3);
    CHECK(r.wheel.pending() == 3);
    CHECK(r.requests->fail_all(asio::error::eof) == 3);
    CHECK(run_through(r.io) == 1);
    CHECK(r.requests->stats() ==
          request_stats{.started = 20, .answered = 5, .timed_out = 10, .failed = 4, .cancelled = 1});
}

TEST_CASE_TEMPLATE("throwing_handler_of_a_refused_request_counts_stay", R, EVERY_REQUESTS) {
    R r({.max_in_flight = 1});
    r.ask(1);
    r.requests->async_wait(2, 1h, [](std::error_code, const std::string&) { throw std::runtime_error("handler"); });
    CHECK(run_through(r.io) == 1);
    CHECK(r.requests->stats() == request_stats{.started = 1, .refused = 1, .in_flight = 1});
}

TEST_CASE("post_fails_the_call_throws_and_the_request_goes_on") {
    failing_rig r;
    asio::cancellation_signal signal;
    r.ask(1, 1h);
    r.requests->async_wait(2, 1h, asio::bind_cancellation_slot(signal.slot(), book_keeper(r.book, 2)));
    r.fail = true;
    CHECK_THROWS_AS(r.requests->complete(1, "lost"), std::bad_alloc);
    CHECK_THROWS_AS(r.requests->fail(1, asio::error::eof), std::bad_alloc);
    CHECK_THROWS_AS(r.requests->cancel(1), std::bad_alloc);
    CHECK_THROWS_AS(r.requests->fail_all(asio::error::eof), std::bad_alloc);
    CHECK_THROWS_AS(signal.emit(asio::cancellation_type::total), std::bad_alloc);
    CHECK(r.requests->stats() == request_stats{.started = 2, .in_flight = 2});
    CHECK(r.wheel.pending() == 2);
    r.fail = false;
    CHECK(r.requests->complete(1, "one"));
    signal.emit(asio::cancellation_type::total);
    run_ready(r.io);
    CHECK(r.book == request_book{{1, {}, "one"}, {2, aborted, ""}});
}

TEST_CASE("timeout_cannot_be_sent_to_the_strand_it_comes_later") {
    failing_rig r;
    for (int key = 1; key <= 5; ++key) r.ask(key, key == 5 ? 1h : 10ms);
    r.fail = true;
    manual_clock::advance(10ms);
    r.io.restart();
    int thrown = 0;
    for (int i = 0; i < (on_io_uring ? 20 : 10); ++i) { // half of them may be Asio's own
        try {
            r.io.poll_one();
        } catch (const std::bad_alloc&) {
            ++thrown;
        }
    }
    CHECK((thrown == 10 || (on_io_uring && thrown > 10))); // each turn tries again
    CHECK(r.requests->in_flight() == 5);
    r.fail = false;
    CHECK(r.requests->complete(3, "an answer wins as ever"));
    CHECK(run_through(r.io) == 0);
    CHECK(r.book.size() == 4);
    CHECK(r.requests->stats() == request_stats{.started = 5, .answered = 1, .timed_out = 3, .in_flight = 1});
}

TEST_CASE("function_of_the_strand_is_destroyed_the_next_one_delivers_what_it_would_have") {
    using discarding = discarding_executor;
    const auto how = [] {
        auto chosen = discarding::when_its_time_comes;
        SUBCASE("when its time comes") {}
        SUBCASE("at once") { chosen = discarding::at_once; }
        SUBCASE("on another thread") { chosen = discarding::at_once_on_another_thread; }
        return chosen;
    }();
    auto discard = discarding::nothing;
    asio::io_context io;
    testing::manual_timer_wheel wheel(io);
    pending_requests<int, std::string, testing::manual_timer_wheel> requests(
        wheel, asio::any_io_executor(discarding(io, discard)));
    request_book book;
    for (int round = 0; round < 2; ++round) {
        const auto ask = [&](int key) { requests.async_wait(key, 10ms, book_keeper(book, key)); };
        SUBCASE("of a timeout") {
            ask(1);
            discard = how;
            pass(io, 10ms);
            CHECK(book.empty());
            discard = discarding::nothing;
            ask(2);
            pass(io, 10ms);
            CHECK(book == request_book{{1, timed_out, ""}, {2, timed_out, ""}});
        }
        SUBCASE("of an answer") {
            ask(1);
            ask(2);
            discard = how;
            CHECK(requests.complete(1, "one"));
            run_ready(io);
            CHECK(book.empty());
            discard = discarding::nothing;
            CHECK(requests.complete(2, "two"));
            run_ready(io);
            CHECK(book == request_book{{1, {}, "one"}, {2, {}, "two"}});
        }
        SUBCASE("of an answer, before the wheel's turn") {
            ask(1);
            discard = how;
            CHECK(requests.complete(1, "one"));
            if (how == discarding::when_its_time_comes) io.restart(), io.poll_one();
            discard = discarding::nothing;
            run_ready(io);
            CHECK(book == request_book{{1, {}, "one"}});
        }
        book.clear();
    }
    CHECK(requests.in_flight() == 0);
    CHECK(counts_agree(requests.stats()));
}

TEST_CASE("object_destroyed_while_nothing_can_be_posted_requests_are_aborted_by_the_wheels_turn") {
    failing_rig r;
    r.ask(1, 1h);
    r.requests->async_wait(2, basic_deadline<manual_clock>(), book_keeper(r.book, 2));
    r.fail = true;
    r.requests.reset();
    CHECK(r.book.empty());
    r.fail = false;
    run_ready(r.io);
    CHECK(r.book == request_book{{1, aborted, ""}, {2, aborted, ""}});
}

TEST_CASE("drain_cannot_go_on_what_comes_next_sees_to_it") {
    failing_rig r;
    for (int key = 0; key < 600; ++key) r.ask(key, 1h);
    for (int key = 0; key < 600; ++key) r.requests->complete(key, "");
    r.ask(600, 1h);
    r.io.restart();
    r.fail = true;
    CHECK_THROWS_AS(r.io.poll(), std::bad_alloc); // after the first batch
    CHECK(r.book.size() < 600);
    r.fail = false;
    SUBCASE("one more is ended") { CHECK(r.requests->cancel(600)); }
    SUBCASE("the object is destroyed") { r.requests.reset(); }
    run_ready(r.io);
    CHECK(r.book.size() == 601);
}

TEST_CASE("drain_cannot_go_on_and_a_handler_throws_its_exception_leaves_run") {
    failing_rig r;
    r.requests->async_wait(0, 1h, [&](std::error_code, const std::string&) {
        r.fail = true;
        throw std::runtime_error("handler");
    });
    for (int key = 1; key <= 3; ++key) r.ask(key, 1h);
    for (int key = 0; key < 3; ++key) r.requests->complete(key, "");
    r.io.restart();
    CHECK_THROWS_AS(r.io.poll(), std::runtime_error);
    CHECK(r.book.empty());
    r.fail = false;
    CHECK(r.requests->cancel(3));
    run_ready(r.io);
    CHECK(r.book == request_book{{1, {}, ""}, {2, {}, ""}, {3, aborted, ""}});
}

TEST_CASE("driver_cannot_be_armed_the_request_throws_and_leaves_nothing_behind") {
    asio::io_context io;
    scripted_wheel wheel(io);
    pending_requests<int, std::string, scripted_wheel> requests(wheel);
    request_book book;
    script::the().fail = true;
    CHECK_THROWS_AS(requests.async_wait(1, 1h, book_keeper(book, 1)), std::bad_alloc);
    script::the().fail = false;
    CHECK(requests.stats() == request_stats{});
    CHECK(wheel.pending() == 0);
    requests.async_wait(1, 10ms, book_keeper(book, 1)); // the key is free
    pass_scripted(io, 20ms);
    CHECK(book == request_book{{1, timed_out, ""}});
}
