// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel of levels carries its entries down, and does not touch their timers.
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

#include <new>

#include <sys/mman.h>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

/// Timers in memory that can be taken away.
struct guarded_timers {
    static constexpr std::size_t number = 1000, bytes = number * sizeof(timer_node);

    timer_node* nodes =
        static_cast<timer_node*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    guarded_timers() {
        REQUIRE(static_cast<void*>(nodes) != MAP_FAILED);
        for (std::size_t i = 0; i < number; ++i) new (nodes + i) timer_node(ignore_expiry);
    }
    ~guarded_timers() { munmap(nodes, bytes); }
    guarded_timers(const guarded_timers&) = delete;
    guarded_timers& operator=(const guarded_timers&) = delete;

    void allow(bool access) { REQUIRE(mprotect(nodes, bytes, access ? PROT_READ | PROT_WRITE : PROT_NONE) == 0); }
};

} // namespace

TEST_CASE("levels_a_timer_going_down_is_not_touched") {
    node_table nodes;
    hierarchical_wheel wheel(nodes, 8);
    guarded_timers guarded;
    for (std::size_t i = 0; i < guarded_timers::number; ++i) {
        nodes.attach(guarded.nodes[i]);
        wheel.schedule(guarded.nodes[i], tick{100'000 + i});
    }
    guarded.allow(false);
    std::uint64_t fired = 0;
    for (std::uint64_t now = 0; now < 100'000; now += 7) fired += wheel.advance(tick{now}).fired; // through every level
    guarded.allow(true);
    CHECK(fired == 0);
    for (std::uint64_t now = 100'000; now < 100'000 + guarded_timers::number; ++now)
        CHECK(wheel.advance(tick{now}).fired == 1);
    for (std::size_t i = 0; i < guarded_timers::number; ++i) nodes.detach(guarded.nodes[i]);
}
