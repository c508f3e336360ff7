// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Scripts of chaos without any socket: the same for the same seed, and every byte goes where the script says.
#include "support/net/chaos_script.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace cogwheel_tests;
using namespace std::chrono_literals;
using verb = chaos_cursor::what;

namespace {

struct fate {
    std::size_t forwarded = 0, dropped = 0, pieces = 0;
    std::chrono::milliseconds waited{0};
    std::vector<chaos> begun;
    verb end = verb::read; // close, reset; read: all went through
};

/// Feeds `bytes` in lots of `lot`, and does what the cursor says.
fate feed(const chaos_script& script, std::size_t bytes, std::size_t lot) {
    chaos_cursor cursor(script);
    fate f;
    std::size_t buffered = 0;
    for (int i = 0; i < 1000000; ++i) {
        const auto order = cursor.next(buffered);
        if (order.begun != nullptr) f.begun.push_back(order.begun->kind);
        switch (order.todo) {
        case verb::read:
            REQUIRE(buffered == 0);
            if (bytes == 0) return f;
            buffered = std::min(bytes, lot);
            bytes -= buffered;
            break;
        case verb::forward:
            REQUIRE(order.bytes > 0);
            REQUIRE(order.bytes <= buffered);
            buffered -= order.bytes;
            f.forwarded += order.bytes;
            ++f.pieces;
            cursor.forwarded(order.bytes);
            break;
        case verb::drop:
            buffered -= order.bytes;
            f.dropped += order.bytes;
            break;
        case verb::wait:
            REQUIRE(order.time > 0ms);
            f.waited += order.time;
            break;
        case verb::close:
        case verb::reset:
            f.end = order.todo;
            return f;
        }
    }
    FAIL("the script does not end");
    return f;
}

} // namespace

TEST_CASE("chaos_without_a_script_forwards_all") {
    const fate f = feed({}, 1000, 300);
    CHECK(f.forwarded == 1000);
    CHECK(f.pieces == 4);
    CHECK(f.begun.empty());
}

TEST_CASE("chaos_forward_then_reset_resets_after_exactly_so_many_bytes") {
    for (const std::size_t lot : {1u, 7u, 100u, 1000u}) {
        CHECK(feed({{chaos::forward, 100}, {chaos::reset}}, 1000, lot).forwarded == 100);
        CHECK(feed({{chaos::forward, 100}, {chaos::reset}}, 1000, lot).end == verb::reset);
        CHECK(feed({{chaos::forward, 100}, {chaos::truncate}}, 100, lot).end == verb::close); // needs no byte more
    }
}

TEST_CASE("chaos_delay_holds_each_lot_back") {
    const fate f = feed({{chaos::delay, 250, 10ms}}, 1000, 100);
    CHECK(f.waited == 30ms); // 100, 100, 50
    CHECK(f.forwarded == 1000);
    CHECK(feed({{chaos::delay, 100, 0ms}}, 1000, 100).waited == 0ms);
}

TEST_CASE("chaos_split_forwards_small_pieces") {
    const fate f = feed({{chaos::split, 100, 2ms, 10}}, 200, 200);
    CHECK(f.pieces == 11);
    CHECK(f.waited == 20ms);
    CHECK(f.forwarded == 200);
}

TEST_CASE("chaos_stall_waits_once_before_anything_is_read") {
    const fate f = feed({{chaos::stall, 0, 40ms}, {chaos::stall, 0, 2ms}}, 200, 100);
    CHECK(f.waited == 42ms);
    CHECK(f.forwarded == 200);
    CHECK(f.begun == std::vector{chaos::stall, chaos::stall});
}

TEST_CASE("chaos_swallow_drops_the_rest_and_is_counted_once") {
    const fate f = feed({{chaos::forward, 50}, {chaos::swallow}, {chaos::reset}}, 1000, 100);
    CHECK(f.forwarded == 50);
    CHECK(f.dropped == 950);
    CHECK(f.begun == std::vector{chaos::forward, chaos::swallow});
    CHECK(f.end == verb::read);
}

TEST_CASE("chaos_cut_drops_whatever_still_comes") {
    chaos_cursor cursor({{chaos::forward, 50}, {chaos::reset}});
    CHECK(cursor.next(0).todo == verb::read);
    cursor.cut();
    CHECK(cursor.next(10).todo == verb::drop);
    CHECK(cursor.next(0).todo == verb::read);
    CHECK_FALSE(cursor.swallows());
}

TEST_CASE("chaos_made_from_a_seed_is_always_the_same") {
    CHECK(describe(make_chaos(7, 3)) == describe(make_chaos(7, 3)));
    std::set<std::string> plans, seeds;
    for (std::uint64_t i = 0; i < 200; ++i) {
        plans.insert(describe(make_chaos(1, i)));
        seeds.insert(describe(make_chaos(i, 1)));
    }
    CHECK(plans.size() > 150);
    CHECK(seeds.size() > 150);
    // On every platform, in every release: else the seed of an old failure is worth nothing.
    CHECK(describe(make_chaos(42, 0)) == "up: split 100 by 5 1ms; down: truncate");
}

TEST_CASE("chaos_plans_keep_to_their_profile") {
    std::array<int, chaos_kinds> seen{};
    const chaos_profile profile;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const chaos_plan plan = make_chaos(5, i);
        for (const chaos_script* script : {&plan.up, &plan.down}) {
            CHECK(script->size() <= profile.most_steps);
            for (const chaos_step& s : *script) {
                ++seen.at(static_cast<std::size_t>(s.kind));
                CHECK(s.bytes >= 1);
                CHECK(s.bytes <= profile.most_bytes);
                CHECK(s.piece >= 1);
                CHECK(s.time >= 1ms);
                CHECK(s.time <= profile.longest);
                if (s.kind >= chaos::swallow) CHECK(&s == &script->back());
            }
        }
    }
    for (const int n : seen) CHECK(n > 0);
    for (std::uint64_t i = 0; i < 300; ++i) {
        const chaos_plan plan = make_chaos(5, i, chaos_profile::of_delays_only());
        CHECK(feed(plan.up, 5000, 700).forwarded == 5000);
        CHECK(feed(plan.down, 5000, 1).forwarded == 5000);
    }
    chaos_profile nothing;
    nothing.weights = {};
    CHECK(describe(make_chaos(1, 1, nothing)) == "up: forward; down: forward");
}
