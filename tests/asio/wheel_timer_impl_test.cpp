// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer object's inside, as the rooms above use it: its waits come sooner, never later.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/detail/engine/wheel_timer_impl.hpp>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct core_rig {
    using state = std::remove_reference_t<decltype(detail::impl_of(std::declval<manual_timer_wheel&>()))>;

    virtual_wheel w;
    detail::wheel_timer_impl<state::engine> core{detail::impl_of(w.wheel)};

    void bring_forward(manual_clock::time_point at) {
        const auto lock = core.wheel().lock();
        core.bring_forward(at);
    }
};

} // namespace

TEST_CASE("bring_forward_sooner_it_fires_then") {
    core_rig r;
    bool done = false;
    const auto now = manual_clock::now();
    r.core.start_wait(must_complete({}, &done), now + 100ms);
    r.bring_forward(now + 50ms);
    r.w.pass(49ms);
    CHECK_FALSE(done);
    r.w.pass(1ms);
    CHECK(done);
}

TEST_CASE("bring_forward_later_changes_nothing") {
    core_rig r;
    bool done = false;
    const auto now = manual_clock::now();
    r.core.start_wait(must_complete({}, &done), now + 100ms);
    r.bring_forward(now + 200ms);
    r.w.pass(99ms);
    CHECK_FALSE(done);
    r.w.pass(1ms);
    CHECK(done);
}

TEST_CASE("bring_forward_without_a_wait_arms_nothing") {
    core_rig r;
    const auto now = manual_clock::now();
    r.bring_forward(now + 50ms);
    CHECK(r.w.wheel.pending() == 0);
    r.core.start_wait(must_complete(), now + 50ms);
    r.w.pass(50ms);
    r.bring_forward(manual_clock::now());
    r.bring_forward(now);
    CHECK(r.w.wheel.pending() == 0);
    r.w.run();
    CHECK(r.w.wheel.stats().fired == 1);
}
