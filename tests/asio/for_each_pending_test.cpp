// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A walk over the pending timers in slices: what is pending throughout is visited once, everything else at most once.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/net/idle_monitor.hpp>
#include <cogwheel/net/pending_requests.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("for_each_pending_visits_each_with_its_expiry_and_token") {
    virtual_wheel w;
    const auto start = manual_clock::now();
    const auto a = w.wheel.schedule(50ms, must_not_run());
    w.wheel.async_wait(70ms, must_abort());
    basic_wheel_timer<testing::manual_timer_wheel> object(w.wheel, 90ms);
    object.async_wait(must_abort());
    object.async_wait(must_abort());
    w.wheel.schedule(60ms, must_not_run()).cancel();
    std::vector<std::chrono::nanoseconds> seen;
    w.wheel.for_each_pending([&](manual_clock::time_point expiry) { seen.push_back(expiry - start); });
    std::sort(seen.begin(), seen.end());
    CHECK((seen == std::vector<std::chrono::nanoseconds>{50ms, 70ms, 90ms}));
    w.wheel.for_each_pending([&](manual_clock::time_point expiry, auto token) {
        CHECK(token.pending());
        if (expiry - start == 50ms) {
            CHECK(token == a);
            CHECK(token.cancel()); // the walk holds no lock
        }
    });
    CHECK(w.wheel.pending() == 2);
    object.cancel();
    w.wheel.stop();
    w.run();
}

TEST_CASE("token_of_any_timer_cancels_it_and_counts_it_once") {
    virtual_wheel w;
    virtual_wheel other; // on which operations wait for ever
    basic_wheel_timer<testing::manual_timer_wheel> object(w.wheel, 90ms);
    object.async_wait(must_abort());
    object.async_wait(must_abort());
    idle_monitor idle(w.wheel, {.reader = 1s});
    int idle_ends = 0;
    idle.async_idle([&](std::error_code ec, const idle_event&) {
        CHECK(ec == asio::error::operation_aborted);
        ++idle_ends;
    });
    pending_requests<int, int, testing::manual_timer_wheel> requests(w.wheel);
    int request_ends = 0;
    requests.async_wait(1, 50ms, [&](std::error_code ec, int) {
        CHECK(ec == asio::error::operation_aborted);
        ++request_ends;
    });
    w.wheel.async_wait(1h, must_abort());
    other.wheel.async_wait(1h, timeout(w.wheel, 10min, must_abort()));
    w.wheel.schedule(1h, must_not_run());
    CHECK(w.wheel.pending() == 6);
    int cancelled = 0;
    w.wheel.for_each_pending([&](manual_clock::time_point, auto token) {
        CHECK(token.pending());
        cancelled += token.cancel() ? 1 : 0;
        CHECK_FALSE(token.pending());
        CHECK_FALSE(token.cancel());
    });
    CHECK(cancelled == 6);
    CHECK(w.wheel.pending() == 0);
    for (int i = 0; i < 3; ++i) {
        w.run();
        run_ready(other.io);
    }
    CHECK(idle_ends == 1);
    CHECK(request_ends == 1);
    const wheel_stats s = w.wheel.stats();
    CHECK((s.of(timer_kind::object) == timer_counts{2, 0, 2}));
    CHECK((s.of(timer_kind::request) == timer_counts{1, 0, 1}));
    CHECK((s.of(timer_kind::timeout) == timer_counts{1, 0, 1}));
    CHECK((s.of(timer_kind::wait) == timer_counts{1, 0, 1}));
    CHECK((s.of(timer_kind::callable) == timer_counts{1, 0, 1}));
    CHECK(other.wheel.pending() == 0); // the operation of the timeout was cancelled
    object.expires_after(10ms);        // and the object can be used again
    object.async_wait(must_complete());
    idle.async_idle([&](std::error_code ec, const idle_event&) { idle_ends += ec ? 100 : 1; });
    w.pass(1s);
    CHECK(idle_ends == 2);
    CHECK(requests.stats().cancelled == 1);
}

TEST_CASE("for_each_pending_empty_wheel_visits_none") {
    virtual_wheel w;
    w.wheel.for_each_pending([](manual_clock::time_point) { FAIL_CHECK("nothing is pending"); });
    w.wheel.schedule(1ms, [] {});
    w.pass(10ms);
    wheel_cursor cursor;
    CHECK_FALSE(cursor.done());
    CHECK_FALSE(w.wheel.for_each_pending(cursor, [](manual_clock::time_point) { FAIL_CHECK("it has fired"); }));
    CHECK(cursor.done());
}

TEST_CASE("for_each_pending_in_slices_while_timers_come_and_go") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        virtual_wheel w;
        struct life {
            int visits = 0;
            bool throughout = true, live = true;
        };
        using token = testing::manual_timer_wheel::token_type;
        std::map<int, life> lives;
        std::vector<std::pair<token, int>> tokens;
        std::unordered_map<std::string, int> numbers; // by the name of a pending timer
        const auto name = [](const token& t) { return (std::ostringstream() << t).str(); };
        int next = 0;
        bool walking = false;
        const auto add = [&] {
            const int number = next++;
            lives[number].throughout = !walking;
            tokens.emplace_back(w.wheel.schedule(1h + std::chrono::seconds(random.below(100)), must_not_run()), number);
            numbers[name(tokens.back().first)] = number;
        };
        for (int i = 0; i < 3000; ++i) add();
        walking = true;
        std::size_t slices = 1;
        const auto visit = [&](manual_clock::time_point, const token& t) { ++lives[numbers.at(name(t))].visits; };
        for (wheel_cursor cursor; w.wheel.for_each_pending(cursor, visit); ++slices) {
            for (std::uint64_t n = random.below(300); n != 0; --n) {
                const std::size_t i = random.below(tokens.size());
                switch (random.below(3)) {
                case 0:
                    tokens[i].first.cancel();
                    lives[tokens[i].second].throughout = false;
                    break;
                case 1:
                    add();
                    break;
                default:
                    tokens[i].first.reschedule(2h);
                }
            }
        }
        CHECK(slices >= 5);
        int wrong = 0;
        for (const auto& [number, l] : lives) wrong += l.throughout ? l.visits != 1 : l.visits > 1;
        CHECK(wrong == 0);
    }
}

TEST_CASE("for_each_pending_from_another_thread_while_the_wheel_turns") {
    asio::io_context io;
    const runners threads(io, 2);
    timer_wheel wheel{io, {.tick = 1ms}};
    std::vector<timer_token> kept;
    for (int i = 0; i < 2000; ++i) kept.push_back(wheel.schedule(1h, must_not_run()));
    std::atomic<bool> over = false;
    std::atomic<int> running = 2;
    on_threads(3, [&](int n) {
        if (n == 2) {
            while (running != 0) {
                std::size_t seen = 0;
                wheel.for_each_pending([&](timer_wheel::time_point) { ++seen; });
                CHECK(seen >= 2000);
                CHECK(wheel.snapshot().pending >= 2000);
            }
            over = true;
            return;
        }
        for (int i = 0; i < 20'000; ++i) wheel.schedule(std::chrono::milliseconds(i % 3), [] {}).reschedule(1ms);
        --running;
    });
    CHECK(over);
    wheel.stop();
}
