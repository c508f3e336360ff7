// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A token names one scheduled callable, and is harmless once that is over.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <optional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

using token_type = manual_timer_wheel::token_type;

namespace {

void check_stale(const token_type& token) {
    CHECK_FALSE(token.cancel());
    CHECK_FALSE(token.reschedule(10ms));
    CHECK_FALSE(token.reschedule(manual_clock::now() + 10ms));
    CHECK_FALSE(token.pending());
    CHECK(token.expiry() == manual_clock::time_point::min());
    CHECK(token.remaining() == 0ns);
}

int functions_called = 0;
void function_with_a_name() noexcept { ++functions_called; }

struct copied_and_not_moved {
    int* calls;
    explicit copied_and_not_moved(int& n) : calls(&n) {}
    copied_and_not_moved(const copied_and_not_moved&) = default;
    copied_and_not_moved(copied_and_not_moved&&) = delete;
    void operator()() const noexcept { ++*calls; }
};

} // namespace

static_assert(std::is_trivially_copyable_v<timer_token>);
static_assert(sizeof(timer_token) == sizeof(void*) + 8);

TEST_CASE("token_empty_answers_false") {
    const token_type token;
    CHECK_FALSE(static_cast<bool>(token));
    check_stale(token);
    CHECK(token == token_type());
}

TEST_CASE("cancel_pending_true_once_callable_destroyed_at_once") {
    virtual_wheel w;
    int destroyed = 0;
    const token_type token = w.wheel.schedule(10ms, must_not_run(&destroyed));
    const token_type copy = token;
    CHECK(token == copy);
    CHECK(static_cast<bool>(token));
    CHECK(token.cancel());
    CHECK(destroyed == 1);
    check_stale(token);
    check_stale(copy);
    CHECK(w.wheel.pending() == 0);
    w.pass(1s);
    CHECK(w.wheel.stats().cancelled == 1);
}

TEST_CASE("schedule_takes_a_function_by_name_and_a_callable_that_cannot_be_moved") {
    virtual_wheel w;
    functions_called = 0;
    int calls = 0;
    const copied_and_not_moved f(calls);
    w.wheel.schedule(10ms, function_with_a_name);
    w.wheel.schedule(10ms, &function_with_a_name);
    w.wheel.schedule(10ms, f);
    w.pass(10ms);
    CHECK(functions_called == 2);
    CHECK(calls == 1);
}

TEST_CASE("token_after_firing_is_stale") {
    virtual_wheel w;
    token_type token;
    token = w.wheel.schedule(10ms, [&] { check_stale(token); }); // already inside the callable
    w.pass(10ms);
    CHECK(w.wheel.stats().fired == 1);
    check_stale(token);
}

TEST_CASE("token_whose_memory_was_reused_does_not_name_the_next_timer") {
    virtual_wheel w;
    int runs = 0;
    const auto count = [&runs] { ++runs; };
    const token_type first = w.wheel.schedule(10ms, count);
    CHECK(first.cancel());
    const token_type second = w.wheel.schedule(10ms, count); // of the same size: it gets the block
    CHECK(first != second);
    check_stale(first);
    CHECK(second.pending());
    w.pass(10ms);
    CHECK(runs == 1);
}

TEST_CASE("token_reused_many_times_only_the_last_is_valid") {
    virtual_wheel w({.tick = 1ms, .slots = 4});
    std::vector<token_type> old;
    for (int i = 0; i < 3000; ++i) {
        const token_type t = w.wheel.schedule(std::chrono::milliseconds(i % 7), [] {});
        if (i % 3 == 0) w.pass(1ms);
        t.cancel();
        old.push_back(t);
    }
    const token_type last = w.wheel.schedule(1s, must_not_run());
    for (const token_type& t : old) REQUIRE_FALSE(t.cancel());
    CHECK(last.cancel());
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE("token_after_the_wheel_is_gone_is_stale") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(io);
    const token_type fired = wheel->schedule(0ms, [] {});
    run_ready(io);
    const token_type pending = wheel->schedule(1h, must_not_run());
    wheel.reset();
    check_stale(fired);
    check_stale(pending);
    run_ready(io);
    check_stale(pending);
}

TEST_CASE("token_of_a_gone_wheel_does_not_name_a_timer_of_the_next") {
    asio::io_context io;
    std::vector<token_type> stale;
    for (int round = 0; round < 5; ++round) {
        manual_timer_wheel wheel(io);
        int runs = 0;
        for (int i = 0; i < 3; ++i) stale.push_back(wheel.schedule(10ms, [&runs] { ++runs; }));
        for (std::size_t i = 0; i + 3 < stale.size(); ++i) check_stale(stale[i]);
        pass(io, 10ms);
        CHECK(runs == 3);
        stale.push_back(wheel.schedule(1h, must_not_run()));
        stale.push_back(wheel.schedule(1h, must_not_run()));
        CHECK(stale.back().cancel());
    }
}

TEST_CASE("token_outlives_a_moved_wheel") {
    virtual_wheel w;
    const token_type token = w.wheel.schedule(1h, must_not_run());
    manual_timer_wheel moved(std::move(w.wheel));
    CHECK(token.pending());
    CHECK(token.cancel());
    CHECK(moved.pending() == 0);
}

TEST_CASE("reschedule_later_fires_at_the_new_time_only") {
    virtual_wheel w;
    int runs = 0;
    const token_type token = w.wheel.schedule(10ms, [&] { ++runs; });
    CHECK(token.reschedule(100ms));
    w.pass(90ms);
    CHECK(runs == 0);
    CHECK(token.reschedule(50ms)); // from now: later still
    w.pass(40ms);
    CHECK(runs == 0);
    w.pass(10ms);
    CHECK(runs == 1);
    CHECK_FALSE(token.reschedule(10ms));
}

TEST_CASE("reschedule_earlier_zero_or_past_fires_then_and_once") {
    virtual_wheel w;
    int runs = 0;
    const auto start = [&] { return w.wheel.schedule(1h, [&] { ++runs; }); };
    token_type token = start();
    CHECK(token.reschedule(20ms));
    w.pass(10ms);
    CHECK(runs == 0);
    w.pass(10ms);
    CHECK(runs == 1);
    token = start();
    CHECK(token.reschedule(0ms));
    CHECK(runs == 1); // not inline
    w.run();
    CHECK(runs == 2);
    token = start();
    CHECK(token.reschedule(-5s));
    w.run();
    CHECK(runs == 3);
    token = start();
    CHECK(token.reschedule(manual_clock::now() - 1s));
    w.run();
    CHECK(runs == 4);
    w.pass(2h);
    CHECK(runs == 4);
    CHECK(w.wheel.stats().scheduled == 4);
}

TEST_CASE("expiry_and_remaining_tell_the_tick") {
    virtual_wheel w;
    const auto start = manual_clock::now();
    const token_type token = w.wheel.schedule(25ms, [] {});
    CHECK(token.pending());
    CHECK(token.expiry() == start + 30ms);
    CHECK(token.remaining() == 30ms);
    manual_clock::advance(12ms);
    CHECK(token.remaining() == 18ms);
    manual_clock::advance(100ms); // overdue, not run yet
    CHECK(token.remaining() == 0ns);
    CHECK(token.pending());
    CHECK(token.expiry() == start + 30ms);
}

TEST_CASE("expiry_overdue_when_set_is_the_present_tick") {
    virtual_wheel w;
    manual_clock::advance(1h + 3ms);
    const token_type token = w.wheel.schedule(0ms, [] {});
    CHECK(token.expiry() <= manual_clock::now());
    CHECK(token.expiry() > manual_clock::now() - 10ms);
}
