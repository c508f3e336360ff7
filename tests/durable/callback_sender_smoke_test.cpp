// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a callback_sender sends, how it uses connections, and its limits: over real sockets.
#include "support/durable/callback_rig.hpp"

#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <set>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

webhook_key smoke_key() { return webhook_key::from_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"); }
webhook_key smoke_second_key() { return webhook_key::from_text("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"); }

std::error_code verify_received(const received_callback& r, const webhook_key& key) {
    const std::string id = r.header("webhook-id"), timestamp = r.header("webhook-timestamp"),
                      signature = r.header("webhook-signature");
    return verify_webhook({&key, 1}, {.id = id, .timestamp = timestamp, .signature = signature}, r.body,
                          std::chrono::system_clock::now());
}

asio::awaitable<void> send_in_a_coroutine(callback_sender& sender, std::string url, callback_result& result) {
    http_callback call;
    call.url = url;
    callback_delivery delivery;
    delivery.id = "task-1";
    result = co_await sender.async_send(call, delivery, asio::use_awaitable);
}

} // namespace

TEST_CASE("sender_sends_the_headers_of_a_webhook") {
    auto options = loopback_options();
    options.keys = {smoke_key(), smoke_second_key()};
    options.user_agent = "shop/1.0";
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const auto r =
        rig.finish(rig.start({.url = receiver.url("/200"),
                              .headers = {{"authorization", "Bearer abc"}, {"x-empty", ""}},
                              .body = R"({"order":17})"},
                             {.id = "order.17 \n\xff", .attempt = 3, .fencing_token = "7.3", .traceparent = trace}));
    CHECK(r.outcome == callback_outcome::succeeded);
    CHECK(r.body == "status 200");
    REQUIRE(receiver.log.requests.size() == 1);
    const received_callback& got = receiver.log.requests[0];
    CHECK(got.head.starts_with("POST /200 HTTP/1.1\r\n"));
    CHECK(got.body == R"({"order":17})");
    CHECK(got.header("webhook-id") == "order.17%20%0A%FF");
    CHECK(got.header("cogwheel-attempt") == "3");
    CHECK(got.header("cogwheel-fencing-token") == "7.3");
    CHECK(got.header("traceparent") == trace);
    CHECK(got.header("content-type") == "application/json");
    CHECK(got.header("User-Agent") == "shop/1.0");
    CHECK(got.header("authorization") == "Bearer abc");
    CHECK(got.header("x-empty") == "");
    CHECK(got.header("Expect") == "(none)");
    CHECK(got.header("Host") == "127.0.0.1:" + std::to_string(receiver.port()));
    CHECK(verify_received(got, smoke_key()) == std::error_code());
    CHECK(verify_received(got, smoke_second_key()) == std::error_code());
}

TEST_CASE("sender_without_optional_parts_leaves_their_headers_out") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    rig.finish(rig.start({.url = receiver.url("/200")}, {.id = "a", .traceparent = "bad\r\nx: y"}));
    REQUIRE(receiver.log.requests.size() == 1);
    const received_callback& got = receiver.log.requests[0];
    for (const char* name :
         {"webhook-signature", "cogwheel-fencing-token", "traceparent", "content-type", "Content-Type", "x"})
        CHECK(got.header(name) == "(none)");
    CHECK(got.header("Content-Length") == "0");
}

TEST_CASE("sender_sends_each_method") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    for (int round = 0; round < 2; ++round) // the handles of the first round are used again
        for (const char* method : {"GET", "POST", "DELETE", "PUT", "PATCH"})
            for (const std::string body : {"", "{}"}) {
                if (method == std::string("GET") && !body.empty()) continue;
                INFO(method);
                const auto r = rig.finish(rig.start({.url = receiver.url("/200"), .method = method, .body = body}));
                CHECK(r.outcome == callback_outcome::succeeded);
                const received_callback& got = receiver.log.requests.back();
                CHECK(got.head.starts_with(std::string(method) + " /200 "));
                CHECK(got.body == body);
                CHECK(got.header("content-type") == (body.empty() ? "(none)" : "application/json"));
            }
    CHECK(receiver.log.accepted == 1);
}

TEST_CASE("sender_sends_a_large_body_whole") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    std::string body(http_callback::max_body, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7);
    CHECK(rig.finish(rig.start({.url = receiver.url("/200"), .body = body})).outcome == callback_outcome::succeeded);
    CHECK(receiver.log.requests.at(0).body == body);
}

TEST_CASE("sender_uses_connections_again") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    CHECK(!rig.send_to(receiver.url("/200")).reused);
    for (int i = 0; i < 20; ++i) CHECK(rig.send_to(receiver.url("/500")).reused);
    CHECK(receiver.log.accepted == 1);
    CHECK(rig.sender->stats().connections == 1);
}

TEST_CASE("sender_with_no_idle_connections_uses_none_again") {
    auto options = loopback_options();
    options.max_idle_connections = 0;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    for (int i = 0; i < 3; ++i) CHECK(!rig.send_to(receiver.url("/200")).reused);
    CHECK(receiver.log.accepted == 3);
}

TEST_CASE("sender_keeps_to_its_limits_in_flight") {
    auto options = loopback_options();
    options.max_in_flight = 5;
    options.max_per_host = 3;
    callback_rig rig(options);
    callback_receiver a(rig.io), b(rig.io);
    std::vector<callback_rig::answer_ptr> answers;
    for (int i = 0; i < 12; ++i) answers.push_back(rig.start_to(a.url("/late")));
    for (int i = 0; i < 12; ++i) answers.push_back(rig.start_to(b.url("/late")));
    std::size_t most = 0;
    for (const auto& one : answers) {
        rig.run_until([&] {
            most = std::max(most, rig.sender->stats().in_flight);
            return one->done;
        });
        CHECK(one->result.outcome == callback_outcome::succeeded);
    }
    CHECK(most == 5);
    CHECK(a.log.most_open_requests == 3);
    CHECK(b.log.most_open_requests == 3);
    CHECK(a.log.accepted == 3);
}

TEST_CASE("sender_gives_hosts_turns_so_that_a_silent_one_holds_up_no_other") {
    auto options = loopback_options();
    options.max_per_host = 2;
    callback_rig rig(options);
    callback_receiver silent(rig.io), good(rig.io);
    for (int i = 0; i < 20; ++i) rig.start_to(silent.url("/silent"));
    for (int i = 0; i < 5; ++i) CHECK(rig.send_to(good.url("/200")).outcome == callback_outcome::succeeded);
    CHECK(rig.sender->stats().waiting == 18);
}

TEST_CASE("sender_refuses_what_would_wait_beyond_the_limit") {
    auto options = loopback_options();
    options.max_in_flight = 1;
    options.max_waiting = 2;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    std::vector<callback_rig::answer_ptr> answers;
    for (int i = 0; i < 5; ++i) answers.push_back(rig.start_to(receiver.url("/late")));
    for (const auto& one : answers) rig.finish(one);
    for (int i = 0; i < 5; ++i) {
        const callback_result& r = answers[static_cast<std::size_t>(i)]->result;
        CHECK(!answers[static_cast<std::size_t>(i)]->ec);
        CHECK(r.outcome == (i < 3 ? callback_outcome::succeeded : callback_outcome::try_again));
        CHECK(r.error == (i < 3 ? std::error_code() : callback_errc::too_many_waiting));
        CHECK(r.sent == (i < 3));
    }
    const callback_stats s = rig.sender->stats();
    CHECK(s.started == 3);
    CHECK(s.refused == 2);
}

TEST_CASE("sender_refuses_a_bad_callback_for_good") {
    callback_rig rig;
    const auto refusal = [&](http_callback call, callback_delivery delivery) {
        const callback_result r = rig.finish(rig.start(std::move(call), std::move(delivery)));
        CHECK(r.outcome == callback_outcome::failed_for_good);
        CHECK(!r.sent);
        return r.error;
    };
    CHECK(refusal({.url = "ftp://127.0.0.1/"}, {.id = "a"}) == callback_errc::bad_scheme);
    CHECK(refusal({.url = "file:///etc/passwd"}, {.id = "a"}) == callback_errc::bad_scheme);
    CHECK(refusal({.url = "http://a/", .headers = {{"x", "a\r\nb: c"}}}, {.id = "a"}) == callback_errc::bad_header);
    CHECK(refusal({.url = "http://a/"}, {.id = ""}) == callback_errc::bad_delivery);
    CHECK(refusal({.url = "http://a/"}, {.id = std::string(513, 'a')}) == callback_errc::bad_delivery);
    CHECK(rig.sender->stats().refused == 5);
}

TEST_CASE("sender_works_in_a_coroutine_and_does_not_throw_for_a_failure") {
    callback_rig rig;
    callback_receiver receiver(rig.io);
    callback_result result;
    bool done = false;
    asio::co_spawn(rig.io, send_in_a_coroutine(*rig.sender, receiver.url("/500"), result),
                   [&](const std::exception_ptr& e) {
                       CHECK(e == nullptr);
                       done = true;
                   });
    rig.run_until([&] { return done; });
    CHECK(result.error == callback_errc::refused_by_status);
}

TEST_CASE("sender_that_is_idle_lets_run_return") {
    callback_rig rig;
    asio::io_context elsewhere{1};
    callback_receiver receiver(elsewhere);
    const auto a = rig.start_to(receiver.url("/200"));
    while (!a->done) {
        rig.io.poll();
        rig.io.restart();
        elsewhere.poll();
    }
    CHECK(a->result.outcome == callback_outcome::succeeded);
    rig.io.run_for(10s);
    CHECK(rig.io.stopped()); // although the connection is open
    CHECK(receiver.log.accepted == 1);
}
