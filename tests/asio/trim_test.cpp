// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// timer_wheel::trim(): nothing but memory changes.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <optional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("trim_after_a_burst_stale_tokens_are_harmless_and_the_pending_fires") {
    virtual_wheel w;
    int fired = 0;
    std::vector<manual_timer_wheel::token_type> stale;
    for (int i = 0; i < 5000; ++i) stale.push_back(w.wheel.schedule(1s, [&] { ++fired; }));
    const auto pending = w.wheel.schedule(1min, [&] { ++fired; });
    w.pass(2s);
    CHECK(fired == 5000);
    CHECK(w.wheel.trim());
    int later = 0;
    for (int i = 0; i < 5000; ++i) w.wheel.schedule(10s, [&] { ++later; });
    for (auto& token : stale) {
        CHECK(!token.pending());
        CHECK(!token.cancel());
        CHECK(!token.reschedule(1ms));
    }
    CHECK(pending.pending());
    CHECK(w.wheel.pending() == 5001);
    w.pass(11s);
    CHECK(later == 5000);
    w.pass(1min);
    CHECK(fired == 5001);
}

TEST_CASE("trim_inside_a_handler_is_legal") {
    virtual_wheel w;
    for (int i = 0; i < 3000; ++i) w.wheel.schedule(1s, [&] { w.wheel.trim(); });
    w.pass(2s);
    CHECK(w.wheel.stats().fired == 3000);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.trim());
}

TEST_CASE("trim_while_a_due_timer_has_not_fired_does_nothing") {
    virtual_wheel w;
    int fired = 0;
    w.wheel.schedule(10ms, [&] { ++fired; });
    w.wheel.schedule(1h, [&] { ++fired; });
    CHECK(w.wheel.trim());
    manual_clock::advance(10ms); // and no turn yet
    CHECK_FALSE(w.wheel.trim());
    w.run();
    CHECK(fired == 1);
    CHECK(w.wheel.trim());
}

TEST_CASE("trim_by_cursor_other_calls_are_legal_between_its_slices") {
    virtual_wheel w;
    int fired = 0;
    std::vector<manual_timer_wheel::token_type> tokens;
    for (int i = 0; i < 20'000; ++i) tokens.push_back(w.wheel.schedule(1s, [&] { ++fired; }));
    for (int i = 0; i < 20'000; i += 2) tokens[static_cast<std::size_t>(i)].cancel();
    CHECK(w.wheel.stats().dead_entries == 10'000);
    wheel_cursor cursor;
    int slices = 1;
    for (; w.wheel.trim(cursor); ++slices) {
        CHECK_FALSE(cursor.done());
        w.wheel.schedule(2s, [&] { ++fired; });
    }
    CHECK(cursor.done());
    CHECK_FALSE(w.wheel.trim(cursor));
    CHECK(slices > 5);
    CHECK(w.wheel.stats().dead_entries == 0);
    w.pass(2s);
    CHECK(fired == 10'000 + slices - 1);
}

TEST_CASE("trim_by_cursor_while_a_timer_is_due_does_nothing") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] {});
    manual_clock::advance(10ms);
    wheel_cursor cursor;
    CHECK_FALSE(w.wheel.trim(cursor));
    CHECK_FALSE(cursor.done());
    w.run();
    CHECK_FALSE(w.wheel.trim(cursor));
    CHECK_FALSE(cursor.done());
}
