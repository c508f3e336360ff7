// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The circuit and the retry budget of each host: over real sockets.
#include "support/durable/callback_rig.hpp"
#include "support/no_descriptors.hpp"

#include <cogwheel/asio/error.hpp>

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

callback_options circuit_options_for_test(std::chrono::nanoseconds open_for) {
    auto options = loopback_options();
    options.use_circuit = true;
    options.circuit.failures_in_a_row = 3;
    options.circuit.open_for = backoff::constant(open_for);
    return options;
}

} // namespace

TEST_CASE("circuit_opens_after_failures_and_refuses_at_once") {
    callback_rig rig(circuit_options_for_test(1h));
    callback_receiver receiver(rig.io), other(rig.io);
    for (int i = 0; i < 3; ++i) CHECK(rig.send_to(receiver.url("/500")).status == 500);
    const callback_result r = rig.send_to(receiver.url("/200"));
    CHECK(r.error == errc::circuit_open);
    CHECK(r.outcome == callback_outcome::try_again);
    CHECK(!r.sent);
    REQUIRE(r.retry_after.has_value());
    CHECK(*r.retry_after <= 3600s);
    CHECK(*r.retry_after >= 3000s);
    CHECK(receiver.log.requests.size() == 3);
    CHECK(rig.send_to(other.url("/200")).outcome == callback_outcome::succeeded); // another host
    CHECK(rig.sender->stats().circuit_refused == 1);
}

TEST_CASE("closed_sender_with_an_open_circuit_lets_run_return") {
    callback_rig rig(circuit_options_for_test(1h));
    {
        callback_receiver receiver(rig.io);
        for (int i = 0; i < 3; ++i) CHECK(rig.send_to(receiver.url("/500")).status == 500);
        CHECK(rig.sender->room(receiver.url("/")).circuit == circuit_state::open);
    }
    rig.sender->close();
    rig.io.restart();
    rig.io.run_for(30s);
    CHECK(rig.io.stopped()); // nothing is left to wait for
    CHECK(rig.sender->stats().hosts == 0);
}

TEST_CASE("circuit_counts_broken_connections_and_not_what_the_receiver_decides") {
    callback_rig rig(circuit_options_for_test(1h));
    callback_receiver receiver(rig.io);
    for (const char* path : {"/404", "/410", "/429", "/301", "/400", "/404"}) rig.send_to(receiver.url(path));
    CHECK(rig.send_to(receiver.url("/200")).outcome == callback_outcome::succeeded);
    for (const char* path : {"/close", "/garbage", "/truncate"}) rig.send_to(receiver.url(path));
    CHECK(rig.send_to(receiver.url("/200")).error == errc::circuit_open);
}

TEST_CASE("circuit_does_not_count_that_this_process_has_no_descriptors") {
    callback_rig rig(circuit_options_for_test(1h));
    callback_receiver receiver(rig.io);
    const std::string by_name = "http://no-such-host.invalid/", by_address = receiver.url("/200");
    CHECK(rig.send_to(by_address).outcome == callback_outcome::succeeded); // the receiver has begun to accept
    for (const std::string& url : {by_name, by_address}) {
        INFO(url);
        std::vector<callback_result> results;
        error_without_descriptors([&] {
            for (int i = 0; i < 5; ++i) results.push_back(rig.send_to(url));
        });
        for (const callback_result& r : results) {
            CHECK(r.error == std::errc::too_many_files_open);
            CHECK(r.outcome == callback_outcome::try_again);
            CHECK(!r.sent);
        }
    }
    CHECK(rig.send_to(by_name).error == callback_errc::host_not_found);
    CHECK(rig.send_to(by_address).outcome == callback_outcome::succeeded);
}

TEST_CASE("circuit_of_another_host_does_not_see_a_resolver_without_descriptors") {
    auto options = circuit_options_for_test(1h);
    options.circuit.failures_in_a_row = 1;
    callback_rig rig(options);
    callback_receiver other(rig.io);
    const auto late = rig.start_to(other.url("/late"));
    rig.run_until([&] { return other.log.requests.size() == 1; });
    {
        const two_descriptors_left limit; // libcurl takes them, and none is left with which the driver watches
        CHECK(!rig.send_to("http://no-such-host.invalid/").sent);
    }
    CHECK(rig.finish(late).outcome == callback_outcome::succeeded);
    CHECK(rig.send_to(other.url("/200")).outcome == callback_outcome::succeeded);
}

TEST_CASE("circuit_tries_again_after_its_time_and_closes_after_a_success") {
    callback_rig rig(circuit_options_for_test(20ms));
    callback_receiver receiver(rig.io);
    for (int i = 0; i < 3; ++i) rig.send_to(receiver.url("/500"));
    callback_result r;
    do r = rig.send_to(receiver.url("/200"));
    while (r.error == errc::circuit_open);
    CHECK(r.outcome == callback_outcome::succeeded);
    for (int i = 0; i < 2; ++i) CHECK(rig.send_to(receiver.url("/500")).status == 500); // closed: counts anew
    CHECK(rig.send_to(receiver.url("/200")).outcome == callback_outcome::succeeded);
}

TEST_CASE("circuit_that_opens_refuses_those_that_wait") {
    auto options = circuit_options_for_test(1h);
    options.max_per_host = 1;
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    std::vector<callback_rig::answer_ptr> answers;
    for (int i = 0; i < 10; ++i) answers.push_back(rig.start_to(receiver.url("/503")));
    for (const auto& one : answers) rig.finish(one);
    CHECK(answers[2]->result.status == 503);
    CHECK(answers[3]->result.error == errc::circuit_open);
    CHECK(answers[9]->result.error == errc::circuit_open);
    CHECK(receiver.log.requests.size() == 3);
    CHECK(rig.sender->stats().waiting == 0);
}

TEST_CASE("circuit_of_a_host_is_forgotten_beyond_the_limit_on_hosts") {
    auto options = circuit_options_for_test(1h);
    options.max_hosts = 2;
    callback_rig rig(options);
    callback_receiver a(rig.io), b(rig.io), c(rig.io);
    for (int i = 0; i < 3; ++i) rig.send_to(a.url("/500"));
    CHECK(rig.send_to(a.url("/200")).error == errc::circuit_open);
    rig.send_to(b.url("/200"));
    CHECK(rig.sender->stats().hosts == 2);
    CHECK(rig.send_to(a.url("/200")).error == errc::circuit_open);
    rig.send_to(b.url("/200"));
    rig.send_to(c.url("/200"));
    CHECK(rig.sender->stats().hosts == 2);
    CHECK(rig.send_to(a.url("/200")).outcome == callback_outcome::succeeded);
}

TEST_CASE("budget_spent_refuses_retries_and_no_first_attempts") {
    auto options = loopback_options();
    options.budget = retry_budget_options{.ratio = 0.5, .min_per_second = 0, .capacity = 2};
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    for (int i = 0; i < 2; ++i) CHECK(rig.send_to(receiver.url("/200"), 2).outcome == callback_outcome::succeeded);
    const callback_result r = rig.send_to(receiver.url("/200"), 2);
    CHECK(r.error == callback_errc::budget_spent);
    CHECK(r.outcome == callback_outcome::try_again);
    CHECK(!r.sent);
    for (int i = 0; i < 2; ++i) CHECK(rig.send_to(receiver.url("/200")).outcome == callback_outcome::succeeded);
    CHECK(rig.send_to(receiver.url("/200"), 5).outcome == callback_outcome::succeeded);
    CHECK(rig.send_to(receiver.url("/200"), 5).error == callback_errc::budget_spent);
    CHECK(rig.sender->stats().budget_refused == 2);
}

TEST_CASE("callback_options_out_of_range_are_named") {
    const auto refused = [](auto change) {
        auto options = loopback_options();
        change(options);
        try {
            options.validate();
        } catch (const std::invalid_argument& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refused([](auto&) {}).empty());
    CHECK(refused([](auto& o) { o.max_in_flight = 0; }).find("max_in_flight is 0") != std::string::npos);
    CHECK(refused([](auto& o) { o.max_per_host = 0; }).find("max_per_host is 0") != std::string::npos);
    CHECK(refused([](auto& o) { o.max_hosts = 0; }).find("max_hosts is 0") != std::string::npos);
    CHECK(refused([](auto& o) { o.connect_timeout = 0s; }).find("connect_timeout is 0 ns") != std::string::npos);
    CHECK(refused([](auto& o) { o.request_timeout = 999us; }).find("request_timeout") != std::string::npos);
    CHECK(refused([](auto& o) { o.max_answer = (1 << 20) + 1; }).find("max_answer") != std::string::npos);
    CHECK(refused([](auto& o) { o.user_agent = "a\r\nb"; }).find("user_agent") != std::string::npos);
    CHECK(refused([](auto& o) { o.final_statuses = {200}; }).find("final_statuses has 200") != std::string::npos);
    CHECK(refused([](auto& o) { o.max_retry_after = -1s; }).find("max_retry_after") != std::string::npos);
    CHECK(refused([](auto& o) { o.max_retry_after = 24h * 365; }).empty());
    CHECK(refused([](auto& o) { o.max_retry_after = 24h * 365 + 1s; }).find("365 days") != std::string::npos);
    CHECK(refused([](auto& o) { o.ca_file = "/no/such/file"; }).find("/no/such/file") != std::string::npos);
    CHECK(refused([](auto& o) {
              o.low_speed = 1;
              o.low_speed_period = 0s;
          }).find("low_speed_period") != std::string::npos);
}
