// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A handler that stops the context is the last one of its turn, as anywhere in Asio; the others come after restart().
#include "support/asio/asio_backend.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/detail/platform.hpp>

#include <asio/bind_executor.hpp>
#include <asio/strand.hpp>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Runs until a handler stops the context. Returns how many handlers had run by then, of `ran`.
int run_until_stopped(asio::io_context& io, const int& ran) {
    const int before = ran;
    io.restart();
    io.run();
    return ran - before;
}

} // namespace

TEST_CASE("context_stopped_by_a_handler_the_rest_of_the_turn_waits_for_restart") {
    virtual_wheel w;
    int ran = 0;
    const auto stop = [&] {
        ++ran;
        w.io.stop();
    };
    const auto wait_stop = [stop](std::error_code) { stop(); };
    constexpr int count = 5;
    basic_wheel_timer<testing::manual_timer_wheel> timer(w.wheel, 10ms);
    SUBCASE("callables") {
        for (int i = 0; i < count; ++i) w.wheel.schedule(10ms, stop);
        manual_clock::advance(10ms);
    }
    SUBCASE("waits") {
        for (int i = 0; i < count; ++i) w.wheel.async_wait(10ms, wait_stop);
        manual_clock::advance(10ms);
    }
    SUBCASE("waits of one timer object") {
        for (int i = 0; i < count; ++i) timer.async_wait(wait_stop);
        manual_clock::advance(10ms);
    }
    SUBCASE("waits that are aborted") {
        for (int i = 0; i < count; ++i) w.wheel.async_wait(10ms, wait_stop);
        CHECK(w.wheel.cancel_all() == count);
    }
#if !COGWHEEL_WINDOWS // there, a context that is stopped still runs what has been posted before
    SUBCASE("aborted ones before one that expires") {
        for (int i = 1; i < count; ++i) w.wheel.async_wait(10ms, wait_stop);
        CHECK(w.wheel.cancel_all() == count - 1);
        w.wheel.schedule(10ms, stop);
        manual_clock::advance(10ms);
    }
#endif
    SUBCASE("overdue ones") {
        for (int i = 0; i < count; ++i) w.wheel.schedule(0ms, stop);
    }
    SUBCASE("of several ticks, after a jump") {
        for (int i = 0; i < count; ++i) w.wheel.schedule(10ms * (i + 1), stop);
        manual_clock::advance(1h);
    }
    for (int round = 1; round <= count; ++round) {
        CAPTURE(round);
        CHECK(run_until_stopped(w.io, ran) == 1);
        CHECK(counts_agree(w.wheel.stats()));
    }
    CHECK(ran == count);
    CHECK(w.wheel.pending() == 0);
    CHECK(run_ready(w.io) <= 2);
    CHECK(ran == count);
}

TEST_CASE("context_of_a_strand_stopped_by_a_handler_ends_the_turn") {
    asio::io_context io;
    const asio::any_io_executor of_a_socket = io.get_executor();
    for (const asio::any_io_executor& executor :
         {asio::any_io_executor(asio::make_strand(io)), asio::any_io_executor(asio::make_strand(of_a_socket))}) {
        manual_timer_wheel wheel(executor);
        int ran = 0;
        for (int i = 0; i < 3; ++i)
            wheel.schedule(10ms, [&] {
                ++ran;
                io.stop();
            });
        manual_clock::advance(10ms);
        for (int i = 0; i < 3; ++i) CHECK(run_until_stopped(io, ran) == 1);
    }
}

TEST_CASE("work_per_turn_of_one_lets_run_one_run_one_handler") {
    virtual_wheel w({.work_per_turn = 1});
    int ran = 0;
    for (int i = 0; i < 5; ++i) w.wheel.schedule(10ms, [&] { ++ran; });
    manual_clock::advance(10ms);
    for (int i = 1; i <= 5; ++i) {
        w.io.restart();
        CHECK(w.io.run_one() == 1);
        CHECK((ran == i || (on_io_uring && ran < i)));
    }
}
