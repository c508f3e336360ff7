// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a request ends, what is counted then, and in which order those who wait hear of it.
#include "support/net/request_rig.hpp"

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("answer_completes_the_request_not_inline", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    r.ask(2);
    CHECK(r.requests->complete(2, "two"));
    CHECK(r.book.empty());
    CHECK_FALSE(r.requests->contains(2)); // but it is decided
    CHECK(r.requests->stats().answered == 1);
    CHECK(r.requests->in_flight() == 1);
    CHECK(r.ended() == request_book{{2, {}, "two"}});
    CHECK(r.requests->complete(1, "one"));
    CHECK(r.ended() == request_book{{1, {}, "one"}});
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("limit_passed_completes_with_timed_out", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, 20ms);
    r.ask(2, 30ms);
    CHECK(r.ended_after(10ms).empty());
    CHECK(r.ended_after(10ms) == request_book{{1, timed_out, ""}});
    CHECK(r.ended_after(10ms) == request_book{{2, timed_out, ""}});
    CHECK(r.requests->stats().timed_out == 2);
    CHECK(r.requests->in_flight() == 0);
}

TEST_CASE_TEMPLATE("fail_completes_with_that_error", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    CHECK(r.requests->fail(1, asio::error::connection_refused));
    CHECK_FALSE(r.requests->fail(1, asio::error::connection_refused));
    CHECK(r.ended() == request_book{{1, asio::error::connection_refused, ""}});
    CHECK(r.requests->stats().failed == 1);
    CHECK(r.requests->stats().late == 1);
}

TEST_CASE_TEMPLATE("cancel_completes_with_operation_aborted", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    CHECK(r.requests->cancel(1));
    CHECK_FALSE(r.requests->cancel(1));
    CHECK(r.ended() == request_book{{1, aborted, ""}});
    CHECK(r.requests->stats().cancelled == 1);
    CHECK(r.requests->stats().late == 0); // nobody has answered
}

TEST_CASE_TEMPLATE("fail_all_fails_all_oldest_first", R, EVERY_REQUESTS) {
    R r;
    for (const int key : {5, 3, 9, 1}) r.ask(key);
    r.requests->cancel(9);
    CHECK(r.requests->fail_all(asio::error::eof) == 3);
    CHECK(r.requests->fail_all(asio::error::eof) == 0);
    const std::error_code eof = asio::error::eof;
    CHECK(r.ended() == request_book{{9, aborted, ""}, {5, eof, ""}, {3, eof, ""}, {1, eof, ""}});
    CHECK(r.requests->stats().failed == 3);
    r.ask(5); // goes on
    CHECK(r.requests->complete(5, "again"));
    CHECK(r.ended() == request_book{{5, {}, "again"}});
}

TEST_CASE_TEMPLATE("handlers_run_in_the_order_in_which_requests_were_ended", R, EVERY_REQUESTS) {
    R r;
    for (int key = 1; key <= 4; ++key) r.ask(key, 10ms);
    r.requests->complete(3, "");
    r.requests->cancel(1);
    manual_clock::advance(10ms); // a turn, before or after the drain: 2 and 4 are later in any case
    r.requests->fail(4, asio::error::eof);
    CHECK(r.ended() == request_book{{3, {}, ""}, {1, aborted, ""}, {4, asio::error::eof, ""}, {2, timed_out, ""}});
}

TEST_CASE_TEMPLATE("timeouts_come_after_answers_that_were_decided_before", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, 10ms);
    r.ask(2, 10ms);
    manual_clock::advance(10ms); // the wheel's turn is posted first
    r.requests->complete(2, "");
    CHECK(r.ended() == request_book{{2, {}, ""}, {1, timed_out, ""}});
}

TEST_CASE_TEMPLATE("duplicate_key_is_refused_not_inline_and_the_first_goes_on", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    r.ask(1);
    CHECK(r.book.empty());
    CHECK(r.requests->stats().refused == 1);
    CHECK(r.requests->stats().started == 1);
    CHECK(r.ended() == request_book{{1, errc::duplicate_key, ""}});
    CHECK(r.requests->complete(1, "one"));
    CHECK(r.ended() == request_book{{1, {}, "one"}});
    r.ask(1); // free again
    CHECK(r.requests->contains(1));
}

TEST_CASE_TEMPLATE("key_is_free_as_soon_as_its_request_is_ended", R, EVERY_REQUESTS) {
    R r;
    r.ask(1);
    r.requests->complete(1, "first");
    r.ask(1); // before the first one's handler has run
    r.requests->complete(1, "second");
    CHECK(r.ended() == request_book{{1, {}, "first"}, {1, {}, "second"}});
}

TEST_CASE_TEMPLATE("more_than_max_in_flight_is_refused_until_one_has_ended", R, EVERY_REQUESTS) {
    R r({.max_in_flight = 2});
    for (int key = 1; key <= 3; ++key) r.ask(key);
    CHECK(r.ended() == request_book{{3, errc::too_many_requests, ""}});
    r.requests->cancel(1);
    r.ask(4);
    CHECK(r.ended() == request_book{{1, aborted, ""}});
    CHECK(r.requests->in_flight() == 2);
    CHECK(r.requests->stats().refused == 1);
    CHECK(r.requests->stats().started == 3);
}

TEST_CASE_TEMPLATE("late_and_unknown_answers_are_counted_and_harmless", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, 10ms);
    CHECK_FALSE(r.requests->complete(2, "never asked"));
    CHECK(r.ended_after(10ms) == request_book{{1, timed_out, ""}});
    CHECK_FALSE(r.requests->complete(1, "late"));
    CHECK_FALSE(r.requests->complete(1, "again"));
    CHECK(r.requests->stats().late == 3);
    CHECK(r.ended().empty());
}

TEST_CASE_TEMPLATE("answer_after_the_limit_before_the_wheels_turn_wins", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, 10ms);
    manual_clock::advance(1h); // the turn is on its way
    CHECK(r.requests->complete(1, "one"));
    CHECK(r.ended() == request_book{{1, {}, "one"}});
    CHECK(r.requests->stats().timed_out == 0);
}

TEST_CASE_TEMPLATE("oldest_and_for_each_show_what_waits_longest_first", R, EVERY_REQUESTS) {
    R r;
    CHECK_FALSE(r.requests->oldest());
    const auto start = manual_clock::now();
    for (const int key : {7, 3, 5}) {
        r.ask(key);
        manual_clock::advance(5ms);
    }
    CHECK(r.requests->oldest()->key == 7);
    CHECK(r.requests->oldest()->started == start);
    CHECK(r.requests->oldest()->age() == 15ms);
    CHECK(r.requests->oldest()->age(start + 20ms) == 20ms);
    std::vector<int> keys;
    const auto note = [&](const auto& e) { keys.push_back(e.key); };
    r.requests->for_each(note);
    CHECK(keys == std::vector{7, 3, 5});
    r.requests->complete(7, "");
    CHECK(r.requests->oldest()->key == 3);
    CHECK(r.requests->cancel(r.requests->oldest()->key)); // a key that lies in the request itself
    keys.clear();
    r.requests->for_each(note);
    CHECK(keys == std::vector{5});
}

TEST_CASE_TEMPLATE("handler_starts_the_next_request_under_the_same_key", R, EVERY_REQUESTS) {
    R r;
    int rounds = 0;
    std::function<void(std::error_code, std::string)> again = [&](std::error_code, const std::string&) {
        if (++rounds == 1000) return;
        r.requests->async_wait(1, 10ms, again);
        if (rounds % 2 != 0) r.requests->complete(1, "");
    };
    r.requests->async_wait(1, 10ms, again);
    while (rounds < 1000) r.pass(10ms);
    CHECK(r.requests->stats().answered == 500);
    CHECK(r.requests->stats().timed_out == 500);
}

TEST_CASE_TEMPLATE("more_ended_at_once_than_one_turn_delivers_all_arrive_in_order", R, EVERY_REQUESTS) {
    R r;
    bool other_ran = false;
    for (int key = 0; key < 1000; ++key) r.ask(key, 10ms);
    for (int key = 0; key < 500; ++key) r.requests->complete(key, "");
    asio::post(r.home, [&] { // others get their turn in between
        other_ran = true;
        CHECK(r.book.size() < 500);
    });
    const request_book ended = r.ended();
    CHECK(other_ran);
    REQUIRE(ended.size() == 500);
    for (int key = 0; key < 500; ++key) CHECK(ended[static_cast<std::size_t>(key)].key == key);
    CHECK(r.ended_after(10ms).size() == 500);
}
