// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Requests in flight when something goes: the object, the wheel, its timers, the context, in whatever order.
#include "support/asio/asio_backend.hpp"
#include "support/net/request_rig.hpp"

#include <asio/bind_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/thread_pool.hpp>

#include <algorithm>
#include <optional>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Fails if it is invoked; `destroyed` counts its end.
struct must_not_end {
    must_not_run no;
    std::shared_ptr<void> owned;

    explicit must_not_end(int& destroyed, std::shared_ptr<void> o = {}) : no(&destroyed), owned(std::move(o)) {}
    void operator()(std::error_code ec, const std::string&) const { no(ec); }
};

} // namespace

TEST_CASE_TEMPLATE("object_destroyed_requests_are_aborted_oldest_first_not_inline", R, EVERY_REQUESTS) {
    R r;
    for (const int key : {3, 1, 2}) r.ask(key);
    r.requests->complete(1, "one");
    r.requests.reset();
    CHECK(r.book.empty());
    CHECK(r.wheel.pending() == 0);
    r.run();
    CHECK(r.book == request_book{{1, {}, "one"}, {3, aborted, ""}, {2, aborted, ""}});
}

TEST_CASE_TEMPLATE("object_destroyed_by_a_handler", R, EVERY_REQUESTS) {
    for (const bool by_timeout : {true, false}) {
        R r;
        r.requests->async_wait(1, 10ms, [&](std::error_code, const std::string&) { r.requests.reset(); });
        for (int key = 2; key <= 5; ++key) r.ask(key, key % 2 == 0 ? 10ms : 1h);
        if (!by_timeout) r.requests->complete(1, "");
        r.pass(10ms);
        CHECK(r.requests == nullptr);
        CHECK(r.book.size() == 4);
        CHECK(r.wheel.pending() == 0);
    }
}

TEST_CASE_TEMPLATE("object_destroyed_by_the_handler_of_its_only_request", R, EVERY_REQUESTS) {
    R r;
    const auto handler = [&](std::error_code, const std::string&) { r.requests.reset(); };
    SUBCASE("timed out") {
        r.requests->async_wait(1, 10ms, handler);
        r.pass(10ms);
    }
    SUBCASE("withdrawn") {
        r.requests->async_wait(1, 1h, handler);
        r.wheel.cancel_all();
        r.run();
    }
    SUBCASE("answered") {
        r.requests->async_wait(1, 1h, handler);
        r.requests->complete(1, "");
        r.run();
    }
    CHECK(r.requests == nullptr);
}

TEST_CASE_TEMPLATE("object_moved_requests_go_with_it", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    r.ask(2, 10ms);
    auto moved = std::make_unique<typename R::requests_type>(std::move(*r.requests));
    r.requests = std::move(moved);
    CHECK(r.requests->in_flight() == 2);
    CHECK(r.ended_after(10ms) == request_book{{2, timed_out, ""}});

    typename R::requests_type other(r.wheel, r.home);
    other.async_wait(7, 1h, book_keeper(r.book, 7));
    other = std::move(*r.requests); // its own are aborted
    r.run();
    CHECK(r.book == request_book{{7, aborted, ""}});
    CHECK(other.complete(1, "one"));
    r.run();
    CHECK(r.book.back() == request_end{1, {}, "one"});
}

TEST_CASE_TEMPLATE("wheels_timers_cancelled_limited_requests_are_aborted", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    r.ask(2);
    r.ask(3, typename R::deadline());
    CHECK(r.wheel.cancel_all() == 2);
    CHECK(r.requests->in_flight() == 3); // not heard of yet
    CHECK(r.requests->complete(2, "an answer still counts"));
    CHECK(r.ended() == request_book{{2, {}, "an answer still counts"}, {1, aborted, ""}});
    CHECK(r.requests->stats().cancelled == 1);
    CHECK(r.requests->contains(3));
    r.ask(4, 10ms); // goes on
    CHECK(r.wheel.cancel_all() == 1);
    CHECK(r.ended().size() == 1);
}

TEST_CASE_TEMPLATE("wheel_stopped_requests_are_aborted_and_later_ones_refused", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    CHECK(r.wheel.stop() == 1);
    r.ask(2);
    r.run();
    CHECK(r.book.size() == 2);
    CHECK(std::count(r.book.begin(), r.book.end(), request_end{1, aborted, ""}) == 1);
    CHECK(std::count(r.book.begin(), r.book.end(), request_end{2, errc::stopped, ""}) == 1);
    r.book.clear();
    r.ask(3, typename R::deadline()); // needs no wheel
    CHECK(r.requests->complete(3, "three"));
    CHECK(r.ended().size() == 1);
}

TEST_CASE_TEMPLATE("wheel_destroyed_first_requests_are_aborted", R, EVERY_REQUESTS) {
    asio::io_context io;
    request_book book;
    auto wheel = std::make_unique<typename R::wheel_type>(io);
    const asio::any_io_executor home =
        R::on_strand ? asio::any_io_executor(asio::make_strand(io)) : asio::any_io_executor(io.get_executor());
    std::optional<typename R::requests_type> requests(std::in_place, *wheel, home);
    for (int key = 1; key <= 3; ++key)
        requests->async_wait(key, key == 3 ? typename R::limit(typename R::deadline()) : typename R::limit(1h),
                             book_keeper(book, key));
    wheel.reset();
    SUBCASE("the object goes on") {
        run_ready(io);
        CHECK(book == request_book{{1, aborted, ""}, {2, aborted, ""}});
        requests->async_wait(4, 1h, book_keeper(book, 4));
        run_ready(io);
        CHECK(book.back() == request_end{4, errc::stopped, ""});
        CHECK(requests->complete(3, "three"));
        run_ready(io);
        CHECK(book.back() == request_end{3, {}, "three"});
    }
    SUBCASE("the object is destroyed, too") {
        requests.reset();
        run_ready(io);
        CHECK(book.size() == 3);
    }
    requests.reset();
    wheel = std::make_unique<typename R::wheel_type>(io); // has the body of the first
    CHECK(wheel->pending() == 0);
}

TEST_CASE_TEMPLATE("context_destroyed_handlers_are_destroyed_uninvoked", R, EVERY_REQUESTS) {
    int destroyed = 0;
    {
        R r;
        r.requests->async_wait(1, 1h, must_not_end(destroyed));
        r.requests->async_wait(2, typename R::deadline(), must_not_end(destroyed));
        r.requests->async_wait(3, 1h, must_not_end(destroyed));
        r.requests->complete(3, "never delivered");
        r.requests->async_wait(4, 10ms, must_not_end(destroyed));
        manual_clock::advance(10ms); // the turn never comes
    }
    CHECK(destroyed == 4);
}

TEST_CASE_TEMPLATE("handlers_own_the_object_context_destroyed_nothing_is_left", R, EVERY_REQUESTS) {
    int destroyed = 0;
    {
        asio::io_context io;
        typename R::wheel_type wheel(io);
        const asio::any_io_executor home =
            R::on_strand ? asio::any_io_executor(asio::make_strand(io)) : asio::any_io_executor(io.get_executor());
        const auto first = std::make_shared<typename R::requests_type>(wheel, home);
        const auto second = std::make_shared<typename R::requests_type>(wheel, home);
        first->async_wait(1, 1h, must_not_end(destroyed, first)); // itself
        first->async_wait(2, typename R::deadline(), must_not_end(destroyed, second));
        second->async_wait(1, 10ms, must_not_end(destroyed, first)); // each other
        second->async_wait(2, 1h, must_not_end(destroyed, second));
        second->async_wait(3, 1h, must_not_end(destroyed, second));
        second->cancel(3);
    }
    CHECK(destroyed == 5);
}

TEST_CASE("destroyed_handler_may_still_call_the_object") {
    bool asked = false;
    int destroyed = 0;
    {
        asio::io_context io;
        testing::manual_timer_wheel wheel(io);
        using requests_of_ints = requests_at_home::requests_type;
        const auto requests = std::make_shared<requests_of_ints>(wheel, io.get_executor());
        struct probe {
            std::shared_ptr<requests_of_ints> requests;
            bool* asked;
            probe(std::shared_ptr<requests_of_ints> r, bool& a) : requests(std::move(r)), asked(&a) {}
            probe(probe&&) = default;
            ~probe() {
                if (requests == nullptr) return;
                int destroyed_at_once = 0;
                *asked = true;
                requests->async_wait(9, 1h, must_not_end(destroyed_at_once));
                CHECK(destroyed_at_once == 1);
                CHECK(requests->complete(2, ""));
                CHECK_FALSE(requests->cancel(1));
                requests->fail_all(asio::error::eof);
                CHECK(requests->in_flight() == 0);
                CHECK(counts_agree(requests->stats()));
            }
            void operator()(std::error_code, const std::string&) const { FAIL("ran"); }
        };
        requests->async_wait(1, 1h, probe(requests, asked));
        requests->async_wait(2, 1h, must_not_end(destroyed));
        requests->async_wait(3, 1h, must_not_end(destroyed));
    }
    CHECK(asked);
    CHECK(destroyed == 2);
}

TEST_CASE("timeout_on_its_way_to_the_strand_context_destroyed") {
    int destroyed = 0;
    {
        requests_on_strand r;
        r.requests->async_wait(1, 10ms, must_not_end(destroyed));
        manual_clock::advance(10ms);
        asio::post(r.home, [] {}); // the strand is occupied, and never gets on
        r.io.restart();
        // With io_uring, operations of Asio's may come before it.
        for (int i = 0; i < (on_io_uring ? 3 : 1) && r.wheel.pending() != 0; ++i) r.io.poll_one();
        CHECK(r.wheel.pending() == 0);
    }
    CHECK(destroyed == 1);
}

TEST_CASE("strand_younger_than_the_list_of_objects_context_destroyed") {
    int destroyed = 0;
    {
        asio::io_context io;
        testing::manual_timer_wheel wheel(io);
        const requests_at_home::requests_type first(wheel);
        requests_at_home::requests_type second(wheel, asio::make_strand(io));
        second.async_wait(1, 1h, must_not_end(destroyed)); // aborted, and never delivered
    }
    CHECK(destroyed == 1);
}

TEST_CASE("on_a_thread_pool_destroyed_with_requests_in_flight") {
    int destroyed = 0;
    {
        asio::thread_pool pool(2);
        timer_wheel wheel(pool.get_executor());
        auto requests = std::make_shared<pending_requests<int, std::string>>(wheel, asio::make_strand(pool));
        requests->async_wait(1, 1h, must_not_end(destroyed, requests));
        pool.stop();
        pool.join();
    }
    CHECK(destroyed == 1);
}

// Two contexts: the wheel's, and that of the requests, which may go first.
TEST_CASE("own_context_destroyed_before_the_wheels_turns_again") {
    enum class event { none, timers_cancelled, wheel_stopped, wheel_destroyed, limit_expired, limit_about_to_expire };
    for (const event what : {event::none, event::timers_cancelled, event::wheel_stopped, event::wheel_destroyed,
                             event::limit_expired, event::limit_about_to_expire}) {
        for (const bool object_first : {true, false}) {
            CAPTURE(static_cast<int>(what));
            CAPTURE(object_first);
            asio::io_context io;
            std::optional<testing::manual_timer_wheel> wheel(std::in_place, io);
            auto home = std::make_unique<asio::io_context>();
            auto requests = std::make_unique<requests_at_home::requests_type>(
                *wheel, object_first ? asio::any_io_executor(asio::make_strand(*home)) // it keeps a copy, which has to
                                     : asio::any_io_executor(home->get_executor()));   // go before its context
            int destroyed = 0;
            requests->async_wait(1, 10ms, must_not_end(destroyed));
            requests->async_wait(2, 1h, must_not_end(destroyed));
            if (what == event::timers_cancelled) wheel->cancel_all();
            if (what == event::wheel_stopped) wheel->stop();
            if (what == event::wheel_destroyed) wheel.reset();
            if (what == event::limit_expired) pass(io, 10ms);
            if (what == event::limit_about_to_expire) manual_clock::advance(10ms);
            if (object_first) requests.reset();
            home.reset();
            CHECK(destroyed == 2);
            requests.reset();
            run_ready(io);
            wheel.reset();
            run_ready(io);
            wheel.emplace(io); // has the body of the first
            CHECK(wheel->pending() == 0);
        }
    }
}

TEST_CASE("own_context_destroyed_while_the_wheels_thread_brings_timeouts") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    const auto work = asio::make_work_guard(io);
    std::thread thread([&] { io.run(); });
    for (int round = 0; round < 300; ++round) {
        auto home = std::make_unique<asio::io_context>(1);
        auto requests = std::make_unique<pending_requests<int, std::string>>(wheel, asio::make_strand(*home));
        for (int key = 0; key < 8; ++key)
            requests->async_wait(key, std::chrono::microseconds(100 * key), [](std::error_code, const std::string&) {});
        if (round % 3 == 0) wheel.cancel_all();
        if (round % 2 == 0) home->run_one();
        requests.reset();
        home.reset();
    }
    io.stop();
    thread.join();
    CHECK(wheel.pending() == 0);
}
