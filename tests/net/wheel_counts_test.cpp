// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The sums over all idle monitors, and over all pending_requests, of a wheel.
#include "support/net/idle_rig.hpp"
#include "support/net/request_rig.hpp"

#include <cogwheel/net/wheel_counts.hpp>

#include <doctest/doctest.h>

#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("idle_stats_of_a_wheel_without_monitors_are_zero") {
    virtual_wheel w;
    CHECK(idle_stats_of(w.wheel) == idle_stats());
    CHECK(request_stats_of(w.wheel) == request_stats());
}

TEST_CASE("idle_stats_count_monitors_and_events_by_kind") {
    virtual_wheel w({.tick = 1ms});
    using idle = idle_monitor<testing::manual_timer_wheel>;
    std::optional<idle> a(std::in_place, w.wheel, idle_timeouts{.reader = 10ms});
    std::optional<idle> b(std::in_place, w.wheel, idle_timeouts{.writer = 20ms, .all = 50ms});
    CHECK(idle_stats_of(w.wheel).monitors == 2);
    idle_log log;
    a->async_idle(log.handler());
    b->async_idle(log.handler());
    w.pass(10ms);
    CHECK((idle_stats_of(w.wheel) == idle_stats{2, 1}));
    w.pass(10ms);
    CHECK((idle_stats_of(w.wheel) == idle_stats{2, 1, 1}));
    b->touch_write();
    b->set_limits({.all = 30ms});
    b->async_idle(log.handler());
    w.pass(40ms);
    CHECK((idle_stats_of(w.wheel) == idle_stats{2, 1, 1, 1}));
    idle moved(std::move(*a));
    CHECK(idle_stats_of(w.wheel).monitors == 2);
    a.reset();
    CHECK(idle_stats_of(w.wheel).monitors == 2);
    b.reset();
    CHECK((idle_stats_of(w.wheel) == idle_stats{1, 1, 1, 1}));
    CHECK(log.size() == 3);
}

TEST_CASE("idle_stats_a_cancelled_wait_is_no_event") {
    virtual_wheel w({.tick = 1ms});
    idle_monitor<testing::manual_timer_wheel> idle(w.wheel, {.reader = 10ms});
    idle_log log;
    idle.async_idle(log.handler());
    idle.cancel();
    w.pass(20ms);
    CHECK(log.size() == 1);
    CHECK((idle_stats_of(w.wheel) == idle_stats{1}));
}

TEST_CASE("request_stats_sum_over_objects_also_destroyed_ones") {
    virtual_wheel w;
    using requests = pending_requests<int, std::string, testing::manual_timer_wheel>;
    const auto ignore = [](std::error_code, const std::string&) {};
    std::optional<requests> a(std::in_place, w.wheel, request_options{.max_in_flight = 2});
    std::optional<requests> b(std::in_place, w.wheel);
    a->async_wait(1, 10ms, ignore);
    a->async_wait(2, 1h, ignore);
    a->async_wait(3, 1h, ignore); // too many
    b->async_wait(1, 1h, ignore);
    b->async_wait(2, 1h, ignore);
    CHECK(request_stats_of(w.wheel).in_flight == 4);
    CHECK(request_stats_of(w.wheel).started == 4);
    w.pass(10ms);
    b->complete(1, "answer");
    b->complete(9, "late");
    b->fail(2, asio::error::eof);
    request_stats s = request_stats_of(w.wheel);
    CHECK(s.timed_out == 1);
    CHECK(s.answered == 1);
    CHECK(s.failed == 1);
    CHECK(s.in_flight == 1);
    a.reset();
    b.reset();
    w.run();
    s = request_stats_of(w.wheel);
    CHECK((s == request_stats{.started = 4,
                              .answered = 1,
                              .timed_out = 1,
                              .failed = 1,
                              .cancelled = 1,
                              .refused = 1,
                              .late = 1,
                              .in_flight = 0}));
}
