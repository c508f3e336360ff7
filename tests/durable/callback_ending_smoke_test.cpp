// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How callbacks end early: cancelled, drained, closed, with the wheel, with the context. Over real sockets.
#include "support/durable/callback_rig.hpp"

#include <cogwheel/asio/error.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/error.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

callback_rig::answer_ptr start_with_slot(callback_rig& rig, const std::string& url, asio::cancellation_signal& signal) {
    auto a = std::make_shared<callback_rig::answer>();
    rig.sender->async_send({.url = url, .body = "{}"}, {.id = "a"},
                           asio::bind_cancellation_slot(signal.slot(), [a](std::error_code ec, callback_result r) {
                               *a = {true, ec, std::move(r)};
                           }));
    return a;
}

void check_aborted(const callback_rig::answer& a) {
    CHECK(a.done);
    CHECK(a.ec == asio::error::operation_aborted);
    CHECK(a.result.error == asio::error::operation_aborted);
    CHECK(a.result.outcome == callback_outcome::try_again);
}

} // namespace

TEST_CASE("send_cancelled_in_flight_completes_and_closes_the_connection") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    asio::cancellation_signal signal;
    const auto a = start_with_slot(rig, receiver.url("/silent"), signal);
    rig.run_until([&] { return receiver.log.requests.size() == 1; });
    signal.emit(asio::cancellation_type::terminal);
    rig.finish(a);
    check_aborted(*a);
    CHECK(a->result.sent);
    rig.run_until([&] { return receiver.log.open_requests == 0; });
    signal.emit(asio::cancellation_type::terminal); // it is over: no effect
    const callback_stats s = rig.sender->stats();
    CHECK(s.aborted == 1);
    CHECK(s.in_flight == 0);
}

TEST_CASE("send_cancelled_while_it_waits_or_at_once_never_starts") {
    auto options = loopback_options();
    options.max_in_flight = 1;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    const auto first = rig.start_to(receiver.url("/late"));
    asio::cancellation_signal waiting, at_once;
    const auto a = start_with_slot(rig, receiver.url("/200"), waiting);
    const auto b = start_with_slot(rig, receiver.url("/200"), at_once);
    at_once.emit(asio::cancellation_type::partial);
    rig.run_until([&] { return rig.sender->stats().waiting >= 1; });
    waiting.emit(asio::cancellation_type::total);
    rig.finish(a);
    rig.finish(b);
    rig.finish(first);
    check_aborted(*a);
    check_aborted(*b);
    CHECK(!a->result.sent);
    CHECK(first->result.outcome == callback_outcome::succeeded);
    CHECK(receiver.log.requests.size() == 1);
}

TEST_CASE("drain_waits_for_all_and_refuses_the_next") {
    auto options = loopback_options();
    options.max_in_flight = 2;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    std::vector<callback_rig::answer_ptr> answers;
    for (int i = 0; i < 5; ++i) answers.push_back(rig.start_to(receiver.url("/late")));
    bool drained = false;
    rig.sender->async_drain([&](std::error_code ec) {
        CHECK(!ec);
        for (const auto& one : answers) CHECK(one->done);
        drained = true;
    });
    rig.run_until([&] { return rig.sender->stats().in_flight == 2; });
    const auto late = rig.start_to(receiver.url("/200"));
    rig.run_until([&] { return drained; });
    for (const auto& one : answers) CHECK(one->result.outcome == callback_outcome::succeeded);
    check_aborted(*late);
    bool again = false;
    rig.sender->async_drain([&](std::error_code ec) { again = !ec; });
    rig.run_until([&] { return again; });
}

TEST_CASE("close_aborts_all_in_any_state") {
    auto options = loopback_options();
    options.max_in_flight = 2;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    std::vector<callback_rig::answer_ptr> answers;
    for (int i = 0; i < 5; ++i) answers.push_back(rig.start_to(receiver.url("/silent")));
    bool drained = false;
    rig.sender->async_drain([&](std::error_code ec) { drained = ec == asio::error::operation_aborted; });
    rig.run_until([&] { return receiver.log.requests.size() == 2; });
    rig.sender->close();
    rig.sender->close();
    answers.push_back(rig.start_to(receiver.url("/200")));
    rig.run_until([&] { return drained; });
    for (const auto& one : answers) {
        rig.finish(one);
        check_aborted(*one);
    }
    CHECK(rig.sender->stats().in_flight == 0);
    CHECK(rig.sender->stats().waiting == 0);
    rig.run_until([&] { return receiver.log.open_requests == 0; }); // the connections are closed
}

TEST_CASE("sender_destroyed_in_flight_completes_all_later") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    const auto a = rig.start_to(receiver.url("/silent"));
    rig.run_until([&] { return receiver.log.requests.size() == 1; });
    const auto b = rig.start_to(receiver.url("/silent"));
    rig.sender.reset();
    CHECK(!a->done);
    rig.finish(a);
    rig.finish(b);
    check_aborted(*a);
    check_aborted(*b);
}

TEST_CASE("sender_destroyed_by_a_completion_completes_the_others") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    const auto other = rig.start_to(receiver.url("/silent"));
    bool done = false;
    rig.sender->async_send({.url = receiver.url("/200")}, {.id = "a"}, [&](std::error_code ec, const callback_result&) {
        CHECK(!ec);
        rig.sender.reset();
        done = true;
    });
    rig.run_until([&] { return done; });
    rig.finish(other);
    check_aborted(*other);
}

TEST_CASE("completion_that_throws_leaves_the_others_alone") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    bool thrown = false;
    rig.sender->async_send({.url = "bad"}, {.id = "a"},
                           [](std::error_code, const callback_result&) { throw std::runtime_error("user"); });
    const auto b = rig.start_to("bad");
    const auto c = rig.start_to(receiver.url("/200"));
    try {
        rig.finish(b);
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    CHECK(thrown);
    CHECK(rig.finish(b).error == callback_errc::bad_scheme);
    CHECK(rig.finish(c).outcome == callback_outcome::succeeded);
}

TEST_CASE("completion_that_throws_leaves_an_answer_under_way_alone") {
    auto options = loopback_options();
    options.connect_timeout = 500ms;
    callback_rig rig(options);
    asio::ip::tcp::acceptor acceptor(rig.io, {asio::ip::make_address("127.0.0.1"), 0});
    const auto port = std::to_string(acceptor.local_endpoint().port());
    const auto under_way = rig.start_to("http://127.0.0.1:" + port + "/");
    asio::ip::tcp::socket peer(rig.io);
    bool accepted = false;
    acceptor.async_accept(peer, [&](std::error_code ec) { accepted = !ec; });
    rig.run_until([&] { return accepted && peer.available() > 0; });
    std::string received(4096, ' ');
    peer.read_some(asio::buffer(received));
    // The other one ends by its limit on TLS, in the step that also reads a part of the first answer.
    callback_receiver silent(rig.io);
    rig.sender->async_send({.url = "https://127.0.0.1:" + std::to_string(silent.port()) + "/"}, {.id = "a"},
                           [](std::error_code, const callback_result&) { throw std::runtime_error("user"); });
    rig.run_until([&] { return silent.log.accepted == 1; });
    asio::write(peer, asio::buffer(std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")));
    std::this_thread::sleep_for(700ms);
    CHECK_THROWS_AS(rig.run_until([] { return false; }), std::runtime_error);
    asio::write(peer, asio::buffer(std::string("world")));
    CHECK(rig.finish(under_way).body == "helloworld");
}

TEST_CASE("context_destroyed_in_flight_leaks_nothing") {
    const auto alive = std::make_shared<int>(0);
    {
        asio::io_context io{1};
        callback_receiver receiver(io);
        std::optional<timer_wheel> wheel(std::in_place, io);
        callback_sender sender(*wheel, loopback_options());
        for (const char* path : {"/silent", "/200", "/dribble"})
            sender.async_send({.url = receiver.url(path)}, {.id = "a"},
                              [alive](std::error_code, const callback_result&) {});
        while (receiver.log.requests.size() < 3) io.run_one();
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE("wheel_that_stops_ends_what_has_no_limit_any_more") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    const auto a = rig.start_to(receiver.url("/silent"));
    rig.run_until([&] { return receiver.log.requests.size() == 1; });
    rig.wheel.stop();
    CHECK(rig.finish(a).error == errc::stopped);
    CHECK(!a->ec);
    CHECK(rig.send_to(receiver.url("/200")).error == errc::stopped);
}
