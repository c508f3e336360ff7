// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Limits on whatever else is asynchronous: timers, channels, composed operations, other limits.
#include "support/asio/scripted_operation.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/compose.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <string>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct code_result {
    std::error_code ec;
    int times = 0;

    auto handler() {
        return [this](std::error_code e) {
            ec = e;
            ++times;
        };
    }
};

/// Reads as often as it takes, and completes with what need not be the signature's own types.
template <class Read>
struct read_twice {
    Read& read;
    int state = 0;
    std::size_t sum = 0;

    template <class Self>
    void operator()(Self& self, std::error_code ec = {}, std::size_t n = 0) {
        sum += n;
        if (ec == asio::error::operation_aborted) return self.complete(asio::error::operation_aborted, 0);
        if (ec) return self.complete(ec, sum);
        if (state++ == 2) return self.complete(std::error_code(), sum);
        read.async_run(std::move(self));
    }
};

template <class Read, class Token>
auto async_read_twice(Read& read, asio::io_context& io, Token&& token) {
    return asio::async_compose<Token, void(std::error_code, std::size_t)>(read_twice<Read>{read}, token, io);
}

} // namespace

TEST_CASE_TEMPLATE("steady_timer_waits", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    asio::steady_timer timer(r.io, 10h);
    code_result result;
    timer.async_wait(timeout(r.wheel, 10ms, result.handler()));
    SUBCASE("too late") {
        r.pass(20ms);
        CHECK(result.ec == asio::error::timed_out);
    }
    SUBCASE("cancelled by itself") {
        timer.cancel();
        r.run();
        CHECK(result.ec == asio::error::operation_aborted);
    }
    CHECK(result.times == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("waits_on_the_same_wheel", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    code_result result;
    basic_wheel_timer timer(r.wheel, 50ms);
    std::chrono::nanoseconds limit = 10ms;
    std::error_code expected = asio::error::timed_out;
    SUBCASE("limit first") {}
    SUBCASE("wait first") {
        limit = 90ms;
        expected = {};
    }
    SUBCASE("equal: the one or the other") { limit = 50ms; }
    for (const bool object : {false, true}) {
        CAPTURE(object);
        result = {};
        timer.expires_after(50ms);
        if (object)
            timer.async_wait(timeout(r.wheel, limit, result.handler()));
        else
            r.wheel.async_wait(50ms, timeout(r.wheel, limit, result.handler()));
        CHECK(r.wheel.pending() == 2);
        r.pass(60ms);
        CHECK(result.times == 1);
        if (limit == 50ms)
            CHECK((!result.ec || result.ec == asio::error::timed_out));
        else
            CHECK(result.ec == expected);
        CHECK(r.wheel.pending() == 0);
    }
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE_TEMPLATE("channel_receive", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    asio::experimental::channel<void(std::error_code, std::string)> channel(r.io, 1);
    std::error_code ec;
    std::string got;
    const auto receive = [&] {
        channel.async_receive(timeout(r.wheel, 10ms, [&](std::error_code e, std::string s) {
            ec = e;
            got = std::move(s);
        }));
    };
    CHECK(channel.try_send(std::error_code(), "kept"));
    receive();
    r.run();
    CHECK_FALSE(ec);
    CHECK(got == "kept");
    SUBCASE("too late") {
        receive();
        r.pass(20ms);
        CHECK(ec == asio::error::timed_out); // Asio's channel_cancelled, as it were
    }
    SUBCASE("closed") {
        receive();
        channel.close();
        r.run();
        CHECK(ec == asio::experimental::error::channel_closed);
    }
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("channel_send_to_a_full_one", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    asio::experimental::channel<void(std::error_code, int)> channel(r.io, 0);
    code_result result;
    channel.async_send(std::error_code(), 1, timeout(r.wheel, 10ms, result.handler()));
    r.pass(20ms);
    CHECK(result.ec == asio::error::timed_out);
    CHECK_FALSE(channel.try_receive([](std::error_code, int) { FAIL_CHECK("sent all the same"); }));
}

TEST_CASE_TEMPLATE("composed_operation_is_limited_as_one", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result result;
    async_read_twice(r.read, r.io, timeout(r.wheel, 30ms, result.handler()));
    r.run();
    r.pass(10ms);
    r.read.complete({}, 3);
    r.pass(10ms);
    CHECK(r.read.started == 2);
    CHECK(r.wheel.pending() == 1);
    SUBCASE("in time") {
        r.read.complete({}, 4);
        r.run();
        CHECK_FALSE(result.ec);
        CHECK(result.bytes == 7);
    }
    SUBCASE("too late in its second part") {
        r.pass(20ms);
        CHECK(result.ec == asio::error::timed_out); // although it said so with a bare enumerator
    }
    CHECK(result.times == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("composed_operation_with_a_limit_for_each_part", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    read_result outer, inner;
    // The one limit lies inside the other, on the same wheel.
    r.read.async_run(timeout(r.wheel, 30ms, timeout(r.wheel, 10ms, inner.handler())));
    CHECK(r.wheel.pending() == 2);
    r.pass(20ms);
    CHECK(inner.times == 1);
    CHECK(inner.ec == asio::error::timed_out);
    CHECK(r.read.cancelled.size() == 1);
    r.read.async_run(timeout(r.wheel, 10ms, timeout(r.wheel, 30ms, {.own_error = true}, outer.handler())));
    r.pass(20ms);
    CHECK(outer.ec == asio::error::timed_out);
    CHECK(r.wheel.pending() == 0);
}

namespace {

/// As operations do that keep their owner alive: what it has put into its slot goes with the signal.
template <class Left, class Token>
auto async_leaving(asio::io_context& io, std::shared_ptr<Left> left, Token&& token) {
    return asio::async_initiate<Token, void(std::error_code)>(
        [&io, left = std::move(left)](auto handler) {
            asio::get_associated_cancellation_slot(handler).assign([left](asio::cancellation_type) {});
            asio::post(io, [h = std::move(handler)]() mutable { std::move(h)(std::error_code()); });
        },
        token);
}

template <class Wheel>
struct uses_the_wheel_at_its_end {
    Wheel* wheel;
    bool* gone;
    ~uses_the_wheel_at_its_end() { *gone = wheel->pending() == 0; }
};

} // namespace

TEST_CASE_TEMPLATE("what_an_operation_has_left_in_its_slot_may_use_the_wheel_as_it_goes", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    Wheel wheel(io);
    bool gone = false, done = false;
    auto left = std::make_shared<uses_the_wheel_at_its_end<Wheel>>(&wheel, &gone);
    async_leaving(io, std::move(left), timeout(wheel, 1h, [&](std::error_code ec) {
                      CHECK_FALSE(ec);
                      CHECK(gone);
                      done = true;
                  }));
    run_ready(io);
    CHECK(done);
}
