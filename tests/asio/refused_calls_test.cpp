// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a filter refuses a system call, as in a sandbox, a wheel does without (docs/platforms.md). Where the counter
// must not be read, the wheel says so.
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX

#include "support/refused_calls.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/boot_clock.hpp>
#include <cogwheel/asio/clock_watch.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/net/detail/output_queue.hpp>
#include <cogwheel/schedule/wall_clock.hpp>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <linux/sockios.h>
#include <sys/socket.h>

using namespace std::chrono_literals;
using namespace cogwheel_tests;

namespace {

/// Fires a timer of each kind on `wheel`, armed by this thread and by another one.
template <class Wheel>
bool fires(asio::io_context& io, Wheel& wheel) {
    int fired = 0;
    const auto token = wheel.schedule(1h, [&] { ++fired; });
    wheel.schedule(1ms, [&] { ++fired; });
    wheel.async_wait(1ms, [&](std::error_code ec) { fired += !ec; });
    token.reschedule(1ms);
    io.restart();
    io.run();
    return fired == 3;
}

bool a_wheel_fires(const cogwheel::wheel_options& options = {.tick = 1ms}) {
    asio::io_context io;
    cogwheel::timer_wheel wheel(io, options);
    return fires(io, wheel);
}

struct refused_case {
    const char* what;
    std::vector<refused_call> calls;
    bool (*do_without)();
};

const std::vector<refused_call> asks_the_clock{
    {SYS_adjtimex},
#ifdef SYS_clock_adjtime
    {SYS_clock_adjtime},
#endif
#ifdef SYS_clock_adjtime64
    {SYS_clock_adjtime64},
#endif
};

#if COGWHEEL_TICK_COUNTER
using steady_counter = cogwheel::detail::tick_counter<std::chrono::steady_clock>;
bool counter_is_trusted() { return steady_counter::is_usable(true); }
#else
bool counter_is_trusted() { return false; }
#endif

const refused_case refused_cases[] = {
    {"adjtimex", asks_the_clock, [] { return !counter_is_trusted() && a_wheel_fires(); }},
    {"openat", {{SYS_openat}}, [] { return !counter_is_trusted() && a_wheel_fires(); }},
    {"prctl", {{SYS_prctl}}, [] { return a_wheel_fires(); }},
    {"madvise",
     {{SYS_madvise}},
     [] {
         asio::io_context io;
         cogwheel::timer_wheel wheel(io, {.tick = 1ms, .reserve = 50'000, .huge_pages = true});
         std::vector<cogwheel::timer_token> tokens;
         for (int i = 0; i < 50'000; ++i) tokens.push_back(wheel.schedule(1h + i * 1s, [] {}));
         wheel.cancel_all();
         io.poll();
         while (!wheel.trim()) {
         }
         for (int i = 0; i < 50'000; ++i) tokens[std::size_t(i)] = wheel.schedule(1h + i * 1s, [] {});
         if (wheel.pending() != 50'000) return false;
         wheel.cancel_all();
         return fires(io, wheel) && wheel.pending() == 0;
     }},
    {"timerfd_create",
     {{SYS_timerfd_create}},
     [] {
         asio::io_context io;
         std::error_code of_watch, of_wheel, of_date = asio::error::eof;
         const cogwheel::clock_watch watch(io.get_executor(), of_watch);
         try {
             const cogwheel::boot_timer_wheel boot(io);
         } catch (const std::system_error& e) {
             of_wheel = e.code();
         }
         cogwheel::timer_wheel wheel(io, {.tick = 1ms});
         cogwheel::async_wait_until_date(wheel, std::chrono::system_clock::now() + 2ms,
                                         [&](std::error_code ec) { of_date = ec; });
         return fires(io, wheel) && of_watch && of_wheel && !of_date;
     }},
    {"ioctl(SIOCOUTQ)",
     {{SYS_ioctl, SIOCOUTQ}},
     [] {
         const int s = ::socket(AF_INET, SOCK_STREAM, 0);
         const bool unknown = !cogwheel::detail::output_queue(s);
         ::close(s);
         return unknown;
     }},
};

} // namespace

TEST_CASE("refused_call_of_the_system_is_done_without") {
    for (const refused_case& c : refused_cases)
        for (const int error : {EPERM, ENOSYS}) {
            CAPTURE(std::string_view(c.what));
            CAPTURE(error);
            if (!can_refuse()) continue;
            forked child([&] { return refuse(c.calls, error) && c.do_without(); });
            CHECK(child.result() == 0);
        }
}

#ifndef __SANITIZE_THREAD__ // it starts no threads in a child
// The mutex has an owner, from whom the other thread takes it, without a fence by the kernel.
TEST_CASE("refused_membarrier_lets_no_two_threads_into_a_mutex") {
    if (!can_refuse()) return;
    const std::vector<refused_call> fence{{SYS_membarrier}}, fence_and_sleep{{SYS_membarrier}, {SYS_nanosleep}};
    for (const bool before : {true, false})
        for (const auto& calls : {fence, fence_and_sleep}) {
            CAPTURE(before);
            CAPTURE(calls.size());
            forked child([&] {
                if (before && !refuse(calls, EPERM)) return false;
                asio::io_context io;
                cogwheel::timer_wheel wheel(io, {.tick = 1ms});
                cogwheel::detail::biased_mutex mutex;
                {
                    const std::lock_guard lock(mutex);
                    mutex.consider_bias();
                    if (before && mutex.is_biased()) return false;
                }
                if (!before && !refuse(calls, EPERM)) return false;
                std::uint64_t sum = 0; // not atomic
                on_threads(3, [&](int) {
                    for (int i = 0; i < 10'000; ++i) {
                        const std::lock_guard lock(mutex);
                        ++sum;
                    }
                });
                int fired = 0;
                std::thread([&] { wheel.schedule(1ms, [&] { ++fired; }); }).join();
                io.run();
                return sum == 30'000 && fired == 1 && fires(io, wheel);
            });
            CHECK(child.result() == 0);
        }
}
#endif

#if COGWHEEL_TICK_COUNTER
// Mostly, std::chrono::steady_clock reads the counter too, and the process is killed. So the wheel's constructor says
// what is wrong before it reads the clock.
TEST_CASE("refused_counter_makes_no_wheel") {
    forked child([] {
        int state = 0;
        if (::prctl(PR_GET_TSC, &state) != 0 || ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) return true; // none here
        asio::io_context io;
        bool refused = false;
        try {
            const cogwheel::timer_wheel wheel(io, {.tick_clock = cogwheel::tick_clock_kind::system});
        } catch (const std::invalid_argument& e) {
            refused = std::string_view(e.what()).find("COGWHEEL_NO_TICK_COUNTER") != std::string_view::npos;
        }
        return refused && ::prctl(PR_SET_TSC, PR_TSC_ENABLE) == 0 && a_wheel_fires();
    });
    CHECK(child.result() == 0);
}
#endif

#endif
