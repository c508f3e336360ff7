// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Completion tokens of all kinds, keys and responses of all kinds, options that are refused, and the error category.
#include "support/net/request_rig.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <future>
#include <memory>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct coordinates {
    int x, y;
    friend bool operator==(const coordinates&, const coordinates&) = default;
};
struct coordinates_hash {
    std::size_t operator()(const coordinates& p) const { return static_cast<std::size_t>(p.x ^ p.y); }
};

} // namespace

TEST_CASE_TEMPLATE("coroutine_gets_the_answer_or_an_exception", R, EVERY_REQUESTS) {
    R r;
    std::string answer;
    std::error_code error, redirected;
    auto caller = [&]() -> asio::awaitable<void> {
        answer = co_await r.requests->async_wait(1, 1s, asio::use_awaitable);
        try {
            co_await r.requests->async_wait(2, 10ms, asio::use_awaitable);
        } catch (const std::system_error& e) {
            error = e.code();
        }
        const auto [ec, response] = co_await r.requests->async_wait(3, 10ms, as_tuple(asio::use_awaitable));
        CHECK(ec == timed_out);
        co_await r.requests->async_wait(4, 10ms, asio::redirect_error(asio::use_awaitable, redirected));
    };
    asio::co_spawn(r.home, caller(), asio::detached);
    r.run();
    CHECK(r.requests->complete(1, "one"));
    for (int i = 0; i < 3; ++i) r.pass(10ms);
    CHECK(answer == "one");
    CHECK(error == timed_out);
    r.pass(10ms);
    CHECK(redirected == timed_out);
    CHECK(r.requests->stats().timed_out == 3);
}

TEST_CASE("future_and_deferred_work") {
    requests_at_home r;
    auto future = r.requests->async_wait(1, 1s, asio::use_future);
    auto later = r.requests->async_wait(2, 1s, deferred);
    CHECK(r.requests->in_flight() == 1); // the second has not begun
    std::move(later)(book_keeper(r.book, 2));
    CHECK(r.requests->complete(2, "two"));
    CHECK(r.requests->complete(1, "one"));
    CHECK(r.ended() == request_book{{2, {}, "two"}});
    CHECK(future.get() == "one");
}

TEST_CASE("default_token_of_the_wheels_executor_is_that_of_the_requests") {
    using token = asio::use_awaitable_t<asio::any_io_executor>;
    using wheel_type = token::as_default_on_t<testing::manual_timer_wheel>;
    asio::io_context io;
    wheel_type wheel(io.get_executor());
    pending_requests<int, std::string, wheel_type> requests(wheel);
    std::string answer;
    auto caller = [&]() -> asio::awaitable<void> { answer = co_await requests.async_wait(1, 1s); };
    asio::co_spawn(io, caller(), asio::detached);
    run_ready(io);
    CHECK(requests.complete(1, "one"));
    run_ready(io);
    CHECK(answer == "one");
}

TEST_CASE("executor_type_of_ones_own") {
    asio::io_context io;
    testing::manual_timer_wheel wheel(io);
    using own_executor = asio::strand<asio::io_context::executor_type>;
    using requests_of_ones_own = requests_at_home::requests_type::rebind_executor<own_executor>::other;
    requests_of_ones_own requests(wheel, asio::make_strand(io));
    static_assert(std::is_same_v<requests_of_ones_own::executor_type, own_executor>);
    bool in_strand = false;
    requests.async_wait(1, 10ms, [&](std::error_code, const std::string&) {
        in_strand = requests.get_executor().running_in_this_thread();
    });
    pass(io, 10ms);
    CHECK(in_strand);
}

TEST_CASE("move_only_responses_and_keys_of_a_users_own") {
    requests_at_home r;
    using response = std::unique_ptr<int>;
    pending_requests<std::string, response, testing::manual_timer_wheel> by_name(r.wheel);
    pending_requests<coordinates, response, testing::manual_timer_wheel, coordinates_hash> by_coordinates(r.wheel);
    int sum = 0;
    const auto add = [&](std::error_code ec, const response& p) { sum += ec ? 100 : *p; };
    by_name.async_wait("a rather long key that is no short string", 1s, add);
    by_name.async_wait("b", 10ms, add); // with an empty response
    by_coordinates.async_wait({1, 2}, 1s, add);
    by_coordinates.async_wait({2, 1}, 1s, add); // the same hash
    CHECK(by_name.complete("a rather long key that is no short string", std::make_unique<int>(1)));
    CHECK(by_coordinates.complete({2, 1}, std::make_unique<int>(2)));
    CHECK_FALSE(by_coordinates.complete({2, 2}, std::make_unique<int>(3)));
    CHECK(by_coordinates.contains({1, 2}));
    r.pass(10ms);
    CHECK(sum == 103);
}

TEST_CASE("options_out_of_range_are_refused_with_a_remedy") {
    requests_at_home r;
    const auto complaint = [&](const request_options& options) -> std::string {
        try {
            const requests_at_home::requests_type requests(r.wheel, options);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "none";
    };
    CHECK(complaint({}) == "none");
    CHECK(complaint({.max_in_flight = 1, .reserve = 1}) == "none");
    CHECK(complaint({.max_in_flight = 0}) == "cogwheel::request_options: max_in_flight is 0, but must be at least 1; "
                                             "leave it out for no limit");
    CHECK(complaint({.max_in_flight = 2, .reserve = 3}) ==
          "cogwheel::request_options: reserve is 3, but max_in_flight only 2; reserve no more than may be in flight");
    CHECK(complaint({.reserve = std::size_t{0xffff'ffff}}) ==
          "cogwheel::request_options: reserve is 4294967295, but must be 0 .. 2147483648; "
          "reserve what you expect in flight at once");
}
