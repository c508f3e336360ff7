// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers that also count the time asleep: on the real clock, and on one whose machine the test suspends.
#include "support/no_descriptors.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/boot_clock.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <vector>

using namespace std::chrono_literals;

namespace {

/// The clock of a machine that the test suspends. The timerfd is a real one. When the machine wakes, the kernel
/// compares the timerfd with a clock that has gone on, and so does this.
struct sleeping_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<sleeping_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept { return time_point(cogwheel::detail::clock_reading(CLOCK_BOOTTIME) + slept); }
    static int open_timer(std::error_code& ec) { return fd = cogwheel::detail::open_timerfd(CLOCK_BOOTTIME, ec); }
    static void set_timer(int, time_point at) noexcept {
        armed = at;
        cogwheel::detail::set_timerfd(fd, at.time_since_epoch() - slept);
    }
    static void suspend(std::chrono::nanoseconds time) {
        slept += time;
        if (armed) set_timer(fd, *armed);
    }

    static inline std::chrono::nanoseconds slept{};
    static inline int fd = -1;
    static inline std::optional<time_point> armed;
};

} // namespace

template <>
class cogwheel::detail::wheel_driver<sleeping_clock> : public timerfd_driver<sleeping_clock> {
    using timerfd_driver::timerfd_driver;
};

namespace {
using sleeping_wheel = cogwheel::basic_timer_wheel<sleeping_clock, cogwheel::multi_threaded>;
} // namespace

TEST_CASE("boot_clock_is_not_behind_the_steady_clock_and_never_goes_back") {
    const auto steady = std::chrono::steady_clock::now().time_since_epoch();
    auto last = cogwheel::boot_clock::now();
    CHECK(last.time_since_epoch() >= steady);
    for (int i = 0; i < 1000; ++i) {
        const auto next = cogwheel::boot_clock::now();
        CHECK(next >= last);
        last = next;
    }
}

TEST_CASE("boot_wheel_timers_fire_in_order_and_never_early") {
    asio::io_context io;
    cogwheel::boot_timer_wheel wheel(io, {.tick = 1ms});
    std::vector<int> fired;
    const auto start = cogwheel::boot_clock::now();
    for (const int ms : {9, 3, 6}) {
        wheel.schedule(start + std::chrono::milliseconds(ms), [&fired, ms, start] {
            CHECK(cogwheel::boot_clock::now() - start >= std::chrono::milliseconds(ms));
            fired.push_back(ms);
        });
    }
    io.run();
    CHECK(fired == std::vector<int>{3, 6, 9});
    CHECK(wheel.stats().wakeups >= 1);
    CHECK(wheel.stats().wakeups <= 3); // none for nothing
}

TEST_CASE("boot_wheel_lets_run_return_when_the_last_timer_is_cancelled") {
    asio::io_context io;
    cogwheel::boot_timer_wheel wheel(io);
    const auto t = wheel.schedule(1h, [] {});
    asio::post(io, [&] { CHECK(t.cancel()); });
    io.run();
    io.restart();
    bool aborted = false;
    wheel.async_wait(1h, [&](std::error_code ec) { aborted = ec == asio::error::operation_aborted; });
    asio::post(io, [&] { wheel.cancel_all(); });
    io.run();
    CHECK(aborted);
    io.restart();
    wheel.schedule(0ms, [&] { aborted = false; });
    io.run();
    CHECK_FALSE(aborted);
}

TEST_CASE("boot_wheel_rearms_for_an_earlier_timer_and_moves_to_a_later_one") {
    asio::io_context io;
    cogwheel::boot_timer_wheel wheel(asio::make_strand(io), {.tick = 1ms});
    std::vector<int> fired;
    const auto start = cogwheel::boot_clock::now(); // all from here: this thread may lose the processor meanwhile
    const auto late = wheel.schedule(1h, [&] { fired.push_back(2); });
    wheel.schedule(start + 2ms, [&] {
        fired.push_back(1);
        late.reschedule(1ms);
    });
    cogwheel::basic_wheel_timer<cogwheel::boot_timer_wheel> timer(wheel, start + 1ms);
    timer.async_wait([&](std::error_code ec) { fired.push_back(ec ? -1 : 0); });
    io.run();
    CHECK(fired == std::vector<int>{0, 1, 2});
}

TEST_CASE("boot_wheel_without_a_descriptor_left_says_so") {
    asio::io_context io;
    const std::error_code ec =
        cogwheel_tests::error_without_descriptors([&] { const cogwheel::boot_timer_wheel wheel(io); });
    CHECK(ec.value() == EMFILE);          // of the timerfd, or of Asio's reactor
    cogwheel::boot_timer_wheel wheel(io); // the failure left nothing behind
    wheel.schedule(0ms, [] {});
    CHECK(io.run() > 0);
}

TEST_CASE("suspension_counts_for_timers_of_the_boot_clock") {
    asio::io_context io;
    sleeping_wheel wheel(io, {.tick = 1ms});
    std::vector<int> fired;
    const auto start = sleeping_clock::now();
    wheel.schedule(1h, [&] {
        CHECK(sleeping_clock::now() - start >= 1h);
        fired.push_back(1);
    });
    wheel.schedule(3h, [&] { fired.push_back(3); });
    bool timed_out = false;
    wheel.async_wait(2h, [&](std::error_code ec) {
        CHECK_FALSE(ec);
        CHECK(sleeping_clock::now() - start >= 2h);
        timed_out = true;
    });
    io.poll();
    CHECK(fired.empty());
    sleeping_clock::suspend(59min);
    io.poll();
    CHECK(fired.empty()); // not early
    sleeping_clock::suspend(90min);
    while (!timed_out) io.run_one();
    CHECK(fired == std::vector<int>{1});
    CHECK(wheel.pending() == 1);
    sleeping_clock::suspend(31min);
    io.run();
    CHECK(fired == std::vector<int>{1, 3});
}

TEST_CASE("boot_wheel_on_many_threads_completes_each_wait_once") {
    asio::io_context io;
    std::atomic<int> completed = 0;
    cogwheel::boot_timer_wheel wheel(io, {.tick = 1ms});
    {
        const cogwheel_tests::runners threads(io, 3);
        for (int i = 0; i < 3000; ++i)
            wheel.async_wait(std::chrono::microseconds(i % 7 * 500), [&](std::error_code) { ++completed; });
    }
    CHECK(completed == 3000);
}
