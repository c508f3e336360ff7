// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a receiver does, and what becomes of the callback: over real sockets. Prints the table that the documentation
// shows.
#include "support/durable/callback_rig.hpp"

#include <cogwheel/asio/error.hpp>

#include <asio/error.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct outcome_row {
    const char* path;
    const char* words;
    callback_outcome outcome;
    std::error_code error;
    int status;
    bool connection_stays;
};

const std::vector<outcome_row>& outcome_rows() {
    constexpr auto good = callback_outcome::succeeded, bad = callback_outcome::failed_for_good,
                   again = callback_outcome::try_again;
    const std::error_code by_status = callback_errc::refused_by_status;
    static const std::vector<outcome_row> rows{
        {"/200", "answers 200", good, {}, 200, true},
        {"/204", "answers 204", good, {}, 204, true},
        {"/301", "redirects (301)", bad, by_status, 301, true},
        {"/307", "redirects (307)", bad, by_status, 307, true},
        {"/400", "answers 400", again, by_status, 400, true},
        {"/404", "answers 404", again, by_status, 404, true},
        {"/410", "answers 410", bad, by_status, 410, true},
        {"/429", "answers 429, Retry-After 7", again, by_status, 429, true},
        {"/500", "answers 500", again, by_status, 500, true},
        {"/503", "answers 503, Retry-After in the year 9999", again, by_status, 503, true},
        {"/silent", "never answers", again, asio::error::timed_out, 0, false},
        {"/close", "closes without an answer", again, callback_errc::disconnected, 0, false},
        {"/half-head", "closes within the head of the answer", again, callback_errc::answer_cut, 200, false},
        {"/truncate", "closes within the body of a 200", again, callback_errc::answer_cut, 200, false},
        {"/garbage", "answers what is not HTTP", again, callback_errc::bad_answer, 0, false},
        {"/bad-chunk", "answers 200 with a broken chunk", again, callback_errc::answer_cut, 200, false},
        {"/big", "answers 200 with a body of 10 MB", good, {}, 200, false},
        {"/endless-head", "answers with a head of 1 MB", again, callback_errc::bad_answer, 200, false},
        {"/dribble", "answers 200, then a byte each 20 ms", again, asio::error::timed_out, 200, false},
    };
    return rows;
}

} // namespace

TEST_CASE("receiver_behaviour_decides_the_outcome") {
    std::string table;
    const auto add = [&table](const std::string& words, const callback_result& r) {
        std::string after = r.retry_after ? fmt::format(" after {} s", r.retry_after->count()) : std::string();
        table += fmt::format("| {:<52} | {:<15} | {} |\n", words, std::string(to_string(r.outcome)) + after,
                             r.error ? r.error.message() : "");
    };
    for (const outcome_row& row : outcome_rows()) {
        INFO(std::string(row.path));
        auto options = loopback_options();
        if (row.error == asio::error::timed_out) options.request_timeout = 300ms;
        callback_rig rig(options);
        callback_receiver receiver(rig.io);
        const callback_result r = rig.send_to(receiver.url(row.path));
        CHECK(r.outcome == row.outcome);
        CHECK(r.error == row.error);
        CHECK(r.status == row.status);
        CHECK(r.sent);
        CHECK(r.remote_address == "127.0.0.1:" + std::to_string(receiver.port()));
        CHECK(r.message.empty() == (r.outcome == callback_outcome::succeeded));
        add(row.words, r);
        const callback_result next = rig.send_to(receiver.url("/200"));
        CHECK(next.reused == row.connection_stays);
        CHECK(receiver.log.accepted == (row.connection_stays ? 1 : 2));
    }
    callback_rig rig;
    std::uint16_t unused = 0;
    {
        callback_receiver gone(rig.io);
        unused = gone.port();
    }
    const callback_result refused = rig.send_to("http://127.0.0.1:" + std::to_string(unused) + "/");
    CHECK(refused.error == callback_errc::cannot_connect);
    CHECK(refused.outcome == callback_outcome::try_again);
    CHECK(!refused.sent);
    add("does not listen", refused);
    const callback_result nowhere = rig.send_to("http://no-such-host.invalid/");
    CHECK(nowhere.error == callback_errc::host_not_found);
    CHECK(nowhere.outcome == callback_outcome::try_again);
    add("has a name that does not exist", nowhere);
    const callback_result inside = rig.send_to("http://10.0.0.1/");
    CHECK(inside.error == callback_errc::address_refused);
    CHECK(inside.outcome == callback_outcome::failed_for_good);
    add("has a private address", inside);
    MESSAGE("\n" << table);
}

TEST_CASE("receiver_that_closes_an_open_connection_gets_the_callback_once") {
    auto options = loopback_options();
    options.max_in_flight = 2;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    for (const int idle_connections : {1, 2}) { // with two, libcurl could send it again on the other one
        INFO(idle_connections);
        std::vector<callback_rig::answer_ptr> first;
        for (int i = 0; i < idle_connections; ++i) first.push_back(rig.start_to(receiver.url("/late")));
        for (const auto& one : first) CHECK(rig.finish(one).outcome == callback_outcome::succeeded);
        receiver.log.requests.clear();
        const callback_result r = rig.send_to(receiver.url("/close"));
        CHECK(r.error == callback_errc::disconnected);
        CHECK(r.outcome == callback_outcome::try_again);
        CHECK(r.sent);
        CHECK(r.reused);
        CHECK(r.remote_address == "127.0.0.1:" + std::to_string(receiver.port()));
        CHECK(receiver.log.requests.size() == 1);
        CHECK(rig.send_to(receiver.url("/200")).outcome == callback_outcome::succeeded);
        CHECK(receiver.log.requests.size() == 2);
    }
}

TEST_CASE("receiver_that_has_closed_an_open_connection_gets_the_callback_on_another") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    receiver.log.answer = [](const received_callback&) { return http_answer(200, "", "and closes"); };
    receiver.log.closes = true;
    for (int i = 1; i <= 20; ++i) {
        const callback_result r = rig.send_to(receiver.url("/"));
        rig.run_until([&] { return receiver.log.open_requests == 0; });
        CHECK(r.outcome == callback_outcome::succeeded);
        CHECK(receiver.log.accepted == i);
    }
}

TEST_CASE("receiver_that_asks_to_wait_is_heard_up_to_the_cap") {
    auto options = loopback_options();
    options.max_retry_after = 3600s;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    CHECK(rig.send_to(receiver.url("/429")).retry_after == 7s);
    CHECK(rig.send_to(receiver.url("/503")).retry_after == 3600s);
    CHECK(rig.send_to(receiver.url("/500")).retry_after == std::nullopt);
    receiver.log.answer = [](const received_callback&) { return http_answer(410, "Retry-After: 7\r\n"); };
    CHECK(rig.send_to(receiver.url("/")).retry_after == std::nullopt);
    receiver.log.answer = [](const received_callback&) { return http_answer(200, "Retry-After: 7\r\n"); };
    CHECK(rig.send_to(receiver.url("/")).retry_after == std::nullopt);
    receiver.log.answer = [](const received_callback&) { return http_answer(500, "retry-after: soon\r\n"); };
    CHECK(rig.send_to(receiver.url("/")).retry_after == std::nullopt);
}

TEST_CASE("receiver_statuses_can_be_made_final") {
    auto options = loopback_options();
    options.final_statuses = {400, 410, 501};
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    CHECK(rig.send_to(receiver.url("/400")).outcome == callback_outcome::failed_for_good);
    CHECK(rig.send_to(receiver.url("/501")).outcome == callback_outcome::failed_for_good);
    CHECK(rig.send_to(receiver.url("/404")).outcome == callback_outcome::try_again);
}

TEST_CASE("receiver_body_is_kept_up_to_the_limit") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    std::size_t size = 0;
    receiver.log.answer = [&size](const received_callback&) { return http_answer(200, "", std::string(size, 'b')); };
    for (size = 65'535; size <= 65'537; ++size) {
        const callback_result r = rig.send_to(receiver.url("/"));
        CHECK(r.outcome == callback_outcome::succeeded);
        CHECK(r.body == std::string(std::min<std::size_t>(size, 65'536), 'b'));
        CHECK(r.body_cut == (size > 65'536));
    }
}

TEST_CASE("receiver_that_is_slow_to_accept_gets_the_callback") {
    callback_rig rig;
    callback_receiver receiver(rig.io, "127.0.0.1", false);
    asio::steady_timer timer(rig.io, 100ms);
    timer.async_wait([&](std::error_code) { receiver.accept(); });
    CHECK(rig.send_to(receiver.url("/200")).outcome == callback_outcome::succeeded);
}

TEST_CASE("receiver_that_is_too_slow_for_low_speed_is_left") {
    auto options = loopback_options();
    options.low_speed = 1000;
    options.low_speed_period = 1s;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    const callback_result r = rig.send_to(receiver.url("/dribble"));
    CHECK(r.error == asio::error::timed_out);
    CHECK(r.elapsed < options.request_timeout);
}
