// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Many threads on one wheel: every accepted timer ends exactly once, and a cancel that answers true is kept.
#include "support/asio/virtual_wheel.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct timer {
    std::atomic<int> runs{0}, told{0};
    std::atomic<bool> accepted{false}, cancelled{false};
};

// One canceller is enough for a timer: each thread has its own.
void play(manual_timer_wheel& wheel, std::vector<timer>& timers, std::size_t from, std::size_t to) {
    random_source random(from);
    std::vector<std::pair<manual_timer_wheel::token_type, timer*>> tokens;
    for (std::size_t i = from; i < to; ++i) {
        timer& t = timers[i];
        const auto delay = std::chrono::milliseconds(random.below(40));
        if (i % 2 == 0) {
            const auto token = wheel.schedule(delay, [&t] { ++t.runs; }, on_cancel([&t] { ++t.told; }));
            t.accepted = static_cast<bool>(token);
            tokens.emplace_back(token, &t);
        } else {
            t.accepted = true;
            wheel.async_wait(delay, [&t](std::error_code ec) {
                if (ec == errc::stopped)
                    t.accepted = false;
                else
                    ++(ec ? t.told : t.runs);
            });
        }
        if (random.below(3) == 0) continue;
        auto& [token, owner] = tokens[random.below(tokens.size())];
        if (random.below(2) == 0) {
            token.reschedule(std::chrono::milliseconds(random.below(40)));
        } else if (token.cancel()) {
            CHECK_FALSE(owner->cancelled.exchange(true));
            CHECK(owner->runs == 0);
        }
    }
}

void check_ended_once(const std::vector<timer>& timers) {
    for (const timer& t : timers) {
        REQUIRE(t.runs + t.told == (t.accepted ? 1 : 0));
        if (t.cancelled) REQUIRE(t.runs == 0);
    }
}

constexpr std::size_t per_thread = 2000;

/// Schedulers and cancellers on threads of their own, beside those that run the wheel.
void play_on_threads(manual_timer_wheel& wheel, std::vector<timer>& timers, int players, bool stop_half_way) {
    std::atomic<int> playing{players};
    std::atomic<bool> halted{false};
    std::thread time([&] {
        while (playing > 0) {
            manual_clock::advance(1ms);
            std::this_thread::yield();
        }
    });
    on_threads(players + 1, [&](int i) {
        if (i < players) {
            const auto n = static_cast<std::size_t>(i);
            play(wheel, timers, n * per_thread, (n + 1) * per_thread - 2);
            while (!halted) std::this_thread::yield(); // so that something always comes after it
            play(wheel, timers, (n + 1) * per_thread - 2, (n + 1) * per_thread);
            --playing;
        } else {
            ask_until([&] { return wheel.stats().scheduled >= per_thread / 2; });
            stop_half_way ? wheel.stop() : wheel.cancel_all();
            halted = true;
            CHECK(counts_agree(wheel.stats()));
        }
    });
    time.join();
    while (wheel.pending() != 0) {
        manual_clock::advance(10ms);
        std::this_thread::yield();
    }
}

} // namespace

TEST_CASE("threads_running_one_context_every_timer_ends_once") {
    asio::io_context io;
    std::vector<timer> timers(3 * per_thread);
    wheel_stats s;
    {
        runners threads(io, 3);
        manual_timer_wheel wheel(io, {.tick = 1ms, .slots = 16, .work_per_turn = 8});
        play_on_threads(wheel, timers, 3, false);
        s = wheel.stats();
    }
    CHECK(s.pending == 0);
    CHECK(s.scheduled == timers.size());
    CHECK(counts_agree(s));
    check_ended_once(timers);
}

TEST_CASE("threads_stopped_half_way_every_accepted_timer_ends_once") {
    asio::io_context io;
    std::vector<timer> timers(2 * per_thread);
    wheel_stats s;
    {
        runners threads(io, 2);
        manual_timer_wheel wheel(io, {.tick = 1ms});
        play_on_threads(wheel, timers, 2, true);
        s = wheel.stats();
    }
    run_ready(io);
    CHECK(s.scheduled + s.rejected == timers.size());
    CHECK(s.rejected > 0);
    CHECK(counts_agree(s));
    check_ended_once(timers);
}

TEST_CASE("threads_of_a_pool_every_timer_ends_once") {
    std::vector<timer> timers(2 * per_thread);
    asio::thread_pool pool(3);
    {
        manual_timer_wheel wheel(pool.get_executor(), {.tick = 1ms, .work_per_turn = 8});
        play_on_threads(wheel, timers, 2, false);
    }
    pool.join();
    check_ended_once(timers);
}

TEST_CASE("threads_strand_of_a_pool_handlers_never_overlap") {
    std::vector<timer> timers(2 * per_thread);
    asio::thread_pool pool(3);
    std::size_t unguarded = 0; // the strand is its guard
    {
        const auto strand = asio::make_strand(pool);
        manual_timer_wheel wheel(strand, {.tick = 1ms, .work_per_turn = 8});
        for (int i = 0; i < 500; ++i) {
            wheel.async_wait(i % 7 * 1ms, [&](std::error_code) { ++unguarded; });
            asio::post(strand, [&] { ++unguarded; });
        }
        play_on_threads(wheel, timers, 2, false);
    }
    pool.join();
    CHECK(unguarded == 1000);
    check_ended_once(timers);
}
