// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Dead entries are bounded whatever the script, and the request pattern makes hardly any.
#include "support/random.hpp"
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"
#include "support/wheel/wheels_under_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace cogwheel_tests;
using cogwheel::tick;
using cogwheel::timer_node;

namespace {

// Beside twice the timers: what nobody sweeps, and what comes in while the sweep goes round partly filled chunks.
template <class Wheel>
std::size_t bound(const Wheel& wheel, std::size_t most_live) {
    return 2 * most_live + cogwheel::wheel_access::garbage_slack + cogwheel::wheel_access::all_slots(wheel) + 128;
}

template <class Wheel>
struct pool_bench {
    cogwheel::node_table nodes;
    Wheel wheel;
    random_source random{3};
    std::vector<timer_node*> live;

    explicit pool_bench(std::size_t slots) : wheel(nodes, slots, tick{}) {}

    void schedule(std::uint64_t deadline) {
        timer_node& node = nodes.allocate(64);
        node.completion(ignore_expiry);
        wheel.schedule(node, tick{deadline});
        live.push_back(&node);
    }
    void cancel(std::size_t i) {
        wheel.cancel(*live[i]);
        nodes.release(*live[i], 64);
        live[i] = live.back();
        live.pop_back();
    }
};

} // namespace

TEST_CASE_TEMPLATE("entries_earlier_reschedules_without_end_are_bounded", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {1U, 4U, 512U}) {
        pool_bench<Wheel> bench(slots);
        constexpr std::size_t timers = 500;
        for (std::size_t i = 0; i < timers; ++i) bench.schedule(1'000'000'000);
        std::size_t most = 0;
        for (std::uint64_t i = 0; i < 100'000; ++i) {
            bench.wheel.reschedule(*bench.live[bench.random.below(timers)], tick{900'000'000 - i * 100});
            most = std::max(most, bench.wheel.entries());
        }
        CAPTURE(slots);
        CHECK(most <= bound(bench.wheel, timers));
        CHECK(bench.wheel.check_invariants() == nullptr);
    }
}

TEST_CASE_TEMPLATE("entries_cancelled_and_scheduled_earlier_are_bounded", Wheel, EVERY_WHEEL) {
    // Each new timer is due before the entry that its block left behind: nothing can be taken over.
    for (const std::size_t slots : {1U, 4U, 512U}) {
        pool_bench<Wheel> bench(slots);
        constexpr std::size_t timers = 500;
        for (std::size_t i = 0; i < timers; ++i) bench.schedule(1'000'000'000);
        std::size_t most = 0;
        for (std::uint64_t i = 0; i < 100'000; ++i) {
            bench.cancel(bench.random.below(timers));
            bench.schedule(900'000'000 - i * 100);
            most = std::max(most, bench.wheel.entries());
        }
        CAPTURE(slots);
        CHECK(most <= bound(bench.wheel, timers));
        CHECK(bench.wheel.check_invariants() == nullptr);
    }
}

TEST_CASE_TEMPLATE("entries_mixed_delays_are_bounded_while_time_goes_on", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {4U, 512U}) {
        pool_bench<Wheel> bench(slots);
        constexpr std::size_t timers = 300;
        std::size_t most = 0;
        std::uint64_t now = 0;
        for (int i = 0; i < 100'000; ++i) {
            if (bench.live.size() >= timers) bench.cancel(bench.random.below(bench.live.size()));
            const std::uint64_t delays[] = {100'000, 3'000'000, 50'000, 900'000'000};
            bench.schedule(now + delays[bench.random.below(4)] + bench.random.below(1000));
            if (i % 16 == 0) {
                bench.wheel.advance(tick{now += 1});
            }
            most = std::max(most, bench.wheel.entries());
        }
        CAPTURE(slots);
        CHECK(most <= bound(bench.wheel, timers));
        CHECK(bench.wheel.check_invariants() == nullptr);
    }
}

TEST_CASE_TEMPLATE("entries_request_pattern_takes_over_instead_of_adding", Wheel, EVERY_WHEEL) {
    pool_bench<Wheel> bench(512);
    for (std::uint64_t i = 0; i < 100; ++i) bench.schedule(3'000);
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        bench.cancel(bench.random.below(100u));
        bench.schedule(3'000 + i / 100);
    }
    CHECK(bench.wheel.entries() == 100);
}

TEST_CASE_TEMPLATE("entries_pushed_back_timers_keep_their_one_entry", Wheel, EVERY_WHEEL) {
    pool_bench<Wheel> bench(512);
    for (std::uint64_t i = 0; i < 100; ++i) bench.schedule(3'000);
    for (std::uint64_t i = 0; i < 100'000; ++i)
        bench.wheel.reschedule(*bench.live[static_cast<std::size_t>(i % 100)], tick{3'000 + i});
    CHECK(bench.wheel.entries() == 100);
}

TEST_CASE_TEMPLATE("footprint_does_not_grow_with_time", Wheel, EVERY_WHEEL) {
    pool_bench<Wheel> bench(64);
    std::size_t settled = 0;
    for (std::uint64_t now = 1; now < 60'000; ++now) {
        while (bench.live.size() < 50) bench.schedule(now + 64 * (1 + bench.random.below(300)));
        bench.cancel(bench.random.below(bench.live.size()));
        bench.wheel.advance(tick{now});
        std::erase_if(bench.live, [&](timer_node* node) {
            if (node->armed()) return false;
            bench.nodes.release(*node, 64);
            return true;
        });
        if (now == 20'000) settled = bench.wheel.footprint();
    }
    CHECK(bench.wheel.footprint() == settled);
}

TEST_CASE("footprint_far_timers_armed_while_their_slot_is_read_take_8_bytes_each") {
    // A budget of 1 stops in the middle of the slot; what is armed then starts a chunk that the rest joins.
    constexpr std::uint64_t slots = 4, far = slots * 100'000;
    wheel_fixture bench(slots);
    numbered_timer& due = bench.make(); // for a slot without a due timer is not read
    for (std::uint64_t now = slots; bench.timers.size() < 5'000; now += slots) {
        bench.wheel.schedule(due.node, tick{now});
        bool more = true;
        for (int call = 0; more && call < 4; ++call) {
            more = bench.advance(now, {1}).more;
            if (bench.timers.size() < 5'000) bench.schedule(now + far);
        }
        bench.advance(now);
    }
    CHECK(bench.wheel.size() == 4'999);
    CHECK(bench.wheel.entries() == 4'999);
    CHECK(bench.wheel.footprint() <=
          3 * 5'000 * sizeof(cogwheel::detail::entry) + 64 * sizeof(cogwheel::detail::chunk));
    CHECK(bench.advance(slots * 200'000).fired == 4'999);
}
