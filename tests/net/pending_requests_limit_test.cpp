// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a request's limit begins and ends: durations, deadlines, the moment of writing, and those that are past or never
// come.
#include "support/net/request_rig.hpp"

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("request_limit_says_when_it_passes") {
    using limit = detail::request_limit<manual_clock>;
    using point = limit::deadline_type;
    const manual_clock::time_point t0(100s);
    const auto at = [](auto t) { return point(manual_clock::time_point(t)); };
    CHECK(limit(2s).at_start(t0) == at(102s));
    CHECK(limit(-2s).at_start(t0).expired(t0));
    CHECK(limit(at(101s)).at_start(t0) == at(101s));
    CHECK(limit(manual_clock::time_point(101s)).at_start(t0) == at(101s));
    CHECK_FALSE(limit(point()).at_start(t0));
    CHECK_FALSE(limit(std::chrono::hours::max()).at_start(t0));
    CHECK_FALSE(limit(std::chrono::time_point<manual_clock, std::chrono::hours>::max()).at_start(t0));
    CHECK_FALSE(limit::from_write(2s).at_start(t0));
    CHECK(limit::from_write(2s).at_write(t0) == at(102s));
    CHECK(limit::from_write(2s, at(105s)).at_start(t0) == at(105s));
    CHECK(limit::from_write(2s, at(101s)).at_write(t0) == at(101s));
    CHECK(limit::from_write(2s, at(105s)).at_write(t0) == at(102s));
    CHECK_FALSE(limit::from_write(std::chrono::hours::max()).at_write(t0));
    CHECK_FALSE(limit(2s).is_from_write());
    CHECK(limit::from_write(2s).is_from_write());
}

TEST_CASE_TEMPLATE("limit_of_zero_or_less_times_out_at_once_not_inline", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, 0s);
    r.ask(2, -5s);
    r.ask(3, typename R::deadline(manual_clock::now() - 1s));
    r.ask(4, typename R::deadline(manual_clock::now()));
    r.ask(5, R::limit::from_write(1s, typename R::deadline(manual_clock::now() - 1s)));
    CHECK(r.book.empty());
    CHECK(r.requests->in_flight() == 5);
    CHECK(r.ended().size() == 5); // no time has passed
    CHECK(r.requests->stats().timed_out == 5);
}

TEST_CASE_TEMPLATE("limit_that_never_passes_waits_for_ever_and_needs_no_timer", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, typename R::deadline());
    r.ask(2, std::chrono::hours::max());
    CHECK(r.wheel.pending() == 0);
    CHECK(r.ended_after(24h * 365 * 50).empty());
    CHECK_FALSE(r.io.stopped()); // somebody waits
    CHECK(r.requests->complete(1, "at last"));
    CHECK(r.requests->cancel(2));
    CHECK(r.ended().size() == 2);
    CHECK(r.io.stopped());
}

TEST_CASE_TEMPLATE("deadline_limits_the_request", R, EVERY_REQUESTS) {
    R r;
    const auto whole = R::deadline::after(50ms);
    r.ask(1, whole);
    r.ask(2, whole.min(20ms));
    CHECK(r.ended_after(20ms) == request_book{{2, timed_out, ""}});
    CHECK(r.ended_after(20ms).empty());
    CHECK(r.ended_after(10ms) == request_book{{1, timed_out, ""}});
}

TEST_CASE_TEMPLATE("from_write_counts_from_written_only", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, R::limit::from_write(30ms));
    r.ask(2, R::limit::from_write(30ms));
    CHECK(r.wheel.pending() == 0);
    CHECK(r.ended_after(1h).empty());
    CHECK(r.requests->written(1));
    CHECK_FALSE(r.requests->written(1)); // does already
    CHECK_FALSE(r.requests->written(3)); // unknown
    CHECK(r.ended_after(20ms).empty());
    CHECK(r.ended_after(10ms) == request_book{{1, timed_out, ""}});
    CHECK_FALSE(r.requests->written(1)); // over
    CHECK(r.requests->complete(2, "unwritten, and answered all the same"));
    CHECK(r.ended().size() == 1);
}

TEST_CASE_TEMPLATE("written_does_not_touch_a_limit_that_counts_from_the_start", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, 30ms);
    r.pass(20ms);
    CHECK_FALSE(r.requests->written(1));
    CHECK(r.ended_after(10ms) == request_book{{1, timed_out, ""}});
}

TEST_CASE_TEMPLATE("from_write_with_a_deadline_whichever_comes_first", R, EVERY_REQUESTS) {
    R r;
    const auto whole = R::deadline::after(50ms);
    for (int key = 1; key <= 3; ++key) r.ask(key, R::limit::from_write(20ms, whole));
    CHECK(r.wheel.pending() == 3);
    r.requests->written(1);
    CHECK(r.ended_after(20ms) == request_book{{1, timed_out, ""}}); // its timeout
    r.pass(20ms);
    r.requests->written(2);
    CHECK(r.ended_after(10ms).size() == 2); // the deadline, unwritten too
    CHECK(r.requests->stats().timed_out == 3);
    CHECK(r.wheel.stats().scheduled == 3);
}

TEST_CASE_TEMPLATE("written_with_zero_or_no_limit", R, EVERY_REQUESTS) {
    R r;
    r.ask(1, R::limit::from_write(0s));
    r.ask(2, R::limit::from_write(std::chrono::hours::max()));
    CHECK(r.ended().empty());
    CHECK(r.requests->written(1));
    CHECK(r.requests->written(2));
    CHECK_FALSE(r.requests->written(2));
    CHECK(r.ended() == request_book{{1, timed_out, ""}});
    CHECK(r.ended_after(24h * 365).empty());
}

TEST_CASE_TEMPLATE("wheel_that_takes_no_timer_refuses_the_request", R, EVERY_REQUESTS) {
    R r({}, {.max_pending = 1});
    r.ask(1);
    r.ask(2);
    r.ask(3, typename R::deadline()); // needs none
    r.ask(4, R::limit::from_write(1s));
    CHECK(r.book.empty());
    CHECK(r.requests->stats().refused == 1);
    CHECK(r.requests->written(4));
    CHECK(r.requests->stats().failed == 1);
    CHECK(r.ended() == request_book{{2, errc::too_many_timers, ""}, {4, errc::too_many_timers, ""}});
    r.requests->complete(1, "");
    r.ask(4, R::limit::from_write(10ms));
    CHECK(r.requests->written(4)); // there is room again
    r.run();
    r.wheel.stop();
    r.ask(6);
    CHECK(r.ended().size() == 3); // 1, 4, 6
    CHECK(r.requests->in_flight() == 1);
}
