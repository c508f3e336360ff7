// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Smoke test: the one place where real time passes. It asserts "never early" and no upper bound; and no order, for a
// machine that stalls between two calls changes that.
#include "support/asio/handler_archetypes.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST_CASE("smoke_real_clock_fires_all_never_early_and_run_returns") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    int fired = 0;
    for (const int ms : {30, 5, 0, 12, 12, 1, 21}) {
        const auto start = clock_type::now();
        wheel.async_wait(std::chrono::milliseconds(ms), [&fired, start, ms](std::error_code ec) {
            CHECK_FALSE(ec);
            CHECK(clock_type::now() - start >= std::chrono::milliseconds(ms));
            ++fired;
        });
    }
    const auto far = wheel.schedule(1h, must_not_run());
    wheel.schedule(40ms, [far] { CHECK(far.cancel()); });
    io.run(); // not for an hour
    CHECK(fired == 7);
    CHECK(wheel.pending() == 0);
}

TEST_CASE("smoke_real_clock_local_wheel_rearms_itself") {
    asio::io_context io(1);
    local_timer_wheel wheel(io, {.tick = 1ms, .slots = 4});
    int rounds = 0;
    struct rearm {
        local_timer_wheel* wheel;
        int* rounds;
        void operator()() const {
            if (++*rounds < 20) wheel->schedule(1ms, *this);
        }
    };
    wheel.schedule(1ms, rearm{&wheel, &rounds});
    io.run();
    CHECK(rounds == 20);
}

TEST_CASE("smoke_real_clock_threads_schedule_and_cancel") {
    asio::io_context io;
    std::atomic<int> ran{0}, cancelled{0};
    constexpr int threads = 3, each = 1000;
    timer_wheel wheel(io, {.tick = 1ms});
    {
        runners run(io, 2);
        on_threads(threads, [&](int) {
            timer_token last;
            for (int i = 0; i < each; ++i) {
                cancelled += last.cancel();
                last = wheel.schedule(std::chrono::microseconds(i % 5 * 500), [&] { ++ran; });
            }
        });
    }
    CHECK(ran + cancelled == threads * each);
    CHECK(wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("smoke_blocking_wait_returns_when_the_expiry_has_come", Clock, std::chrono::steady_clock,
                   std::chrono::system_clock) {
    asio::io_context io;
    basic_timer_wheel<Clock, multi_threaded> wheel(io);
    basic_wheel_timer<basic_timer_wheel<Clock, multi_threaded>> timer(wheel, 5ms);
    std::error_code ec = asio::error::operation_aborted;
    SUBCASE("wait()") {
        timer.wait();
        ec.clear();
    }
    SUBCASE("wait(error_code)") { timer.wait(ec); }
    CHECK_FALSE(ec);
    CHECK(Clock::now() >= timer.expiry());
    timer.expires_at(Clock::time_point::min());
    timer.wait(); // long past
}

TEST_CASE("smoke_blocking_wait_follows_a_clock_that_another_thread_turns") {
    asio::io_context io;
    testing::manual_timer_wheel wheel(io);
    basic_wheel_timer<testing::manual_timer_wheel> timer(wheel, 1h);
    std::thread hand([] { testing::manual_clock::advance(1h); });
    timer.wait();
    hand.join();
    CHECK(testing::manual_clock::now() >= timer.expiry());
}
