// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One turn does a bounded amount of work, then lets others run.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <functional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("burst_other_handlers_run_in_between") {
    virtual_wheel w({.work_per_turn = 1});
    int fired = 0, others = 0;
    for (int i = 0; i < 100; ++i) w.wheel.async_wait(10ms, [&](std::error_code) { ++fired; });
    std::function<void()> other = [&] {
        CHECK(fired <= ++others); // at most one timer before each
        if (fired < 100) asio::post(w.io, other);
    };
    manual_clock::advance(10ms);
    asio::post(w.io, other);
    w.run();
    CHECK(fired == 100);
    CHECK(others >= 100);
    CHECK(w.wheel.stats().largest_turn == 1);
    CHECK(w.wheel.stats().turns >= 100);
}

TEST_CASE("burst_larger_than_a_turn_all_fire_at_the_same_time") {
    for (const std::uint32_t work : {1U, 7U, 100U, 1024U}) {
        CAPTURE(work);
        virtual_wheel w({.work_per_turn = work});
        std::size_t fired = 0;
        for (int i = 0; i < 300; ++i) w.wheel.schedule(10ms, [&] { ++fired; });
        w.pass(10ms);
        CHECK(fired == 300);
        CHECK(w.wheel.stats().largest_turn <= work);
        CHECK(w.wheel.stats().lateness.max == 0ns);
    }
}

TEST_CASE("burst_half_fired_counts_are_exact_and_the_rest_can_be_cancelled") {
    virtual_wheel w({.work_per_turn = 10});
    for (int i = 0; i < 100; ++i) w.wheel.schedule(10ms, [] {});
    manual_clock::advance(10ms);
    w.io.restart();
    while (w.wheel.stats().fired < 10) w.io.poll_one();
    const wheel_stats s = w.wheel.stats();
    CHECK(s.fired == 10);
    CHECK(s.pending == 90);
    CHECK(w.wheel.cancel_all() == 90);
    w.run();
    CHECK(w.wheel.stats().fired == 10);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE("zero_delay_timer_rearming_itself_does_not_starve_others") {
    virtual_wheel w;
    int rounds = 0, others = 0;
    std::function<void()> rearm = [&] {
        if (++rounds < 1000) w.wheel.schedule(0ms, rearm);
    };
    std::function<void()> other = [&] {
        ++others;
        CHECK(rounds <= others); // one round, one other
        if (rounds < 1000) asio::post(w.io, other);
    };
    w.wheel.schedule(0ms, rearm);
    asio::post(w.io, other);
    w.run();
    CHECK(rounds == 1000);
    CHECK(others >= 1000);
    CHECK(w.wheel.stats().largest_turn == 1);
}

TEST_CASE("aborts_more_than_a_turn_others_run_in_between") {
    virtual_wheel w({.work_per_turn = 5});
    int aborted = 0, before = -1;
    for (int i = 0; i < 50; ++i) w.wheel.async_wait(1h, [&](std::error_code) { ++aborted; });
    w.wheel.cancel_all();
    asio::post(w.io, [&] { before = aborted; });
    w.run();
    CHECK(before == 5);
    CHECK(aborted == 50);
}

TEST_CASE("aborts_of_thousands_each_turn_delivers_no_more_than_work_per_turn") {
    constexpr int timers = 3000, work = 10;
    for (const bool waits : {true, false}) {
        for (const bool stops : {true, false}) {
            virtual_wheel w({.work_per_turn = work});
            int ended = 0, others = 0, last = 0, most = 0;
            for (int i = 0; i < timers; ++i) {
                if (waits)
                    w.wheel.async_wait(1h, [&](std::error_code) { ++ended; });
                else
                    w.wheel.schedule(1h, must_not_run(), on_cancel([&] { ++ended; }));
            }
            CHECK((stops ? w.wheel.stop() : w.wheel.cancel_all()) == timers);
            CHECK(w.wheel.pending() == 0); // at once, but no handler has run
            CHECK(ended == 0);
            std::function<void()> other = [&] {
                most = std::max(most, ended - last);
                last = ended;
                if (ended < timers && ++others < 10 * timers) asio::post(w.io, other);
            };
            asio::post(w.io, other);
            w.run();
            CHECK(ended == timers);
            CHECK(most <= work);
            CHECK(others >= timers / work - 1);
            CHECK(w.wheel.stats().turns >= timers / work);
        }
    }
}

TEST_CASE("pause_of_many_revolutions_others_run_before_all_due_timers_are_in_order") {
    virtual_wheel w({.tick = 1ms, .slots = 64, .work_per_turn = 10});
    constexpr int timers = 4000;
    int fired = 0, others_before = 0, turns = 0;
    std::vector<int> order;
    for (int i = 0; i < timers; ++i)
        w.wheel.schedule(1ms * (1 + i * 7919 % 60'000), [&, at = i * 7919 % 60'000] {
            ++fired;
            order.push_back(at);
        });
    manual_clock::advance(1h);
    std::function<void()> other = [&] {
        others_before += fired == 0 ? 1 : 0;
        if (fired < timers && ++turns < 10 * timers) asio::post(w.io, other);
    };
    asio::post(w.io, other);
    w.run();
    CHECK(fired == timers);
    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK(others_before >= timers * 2 * work_budget::entry / (10 * work_budget::expiry));
    CHECK(w.wheel.stats().largest_turn <= 10);
}
