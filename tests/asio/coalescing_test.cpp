// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers that need not be exact: within their range, and with fewer wake-ups.
#include "support/asio/virtual_wheel.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct coalescing_outcome {
    int early = 0, late = 0, fired = 0;
    std::uint64_t wakeups = 0;
};

// A thousand timers of 1 s to 60 s, set one every 20 ms; each may come up to `slack` after its delay.
template <class Schedule>
coalescing_outcome run_thousand(std::chrono::nanoseconds slack, Schedule schedule) {
    static constexpr auto step = 10ms;
    virtual_wheel at({.tick = step});
    random_source random(5);
    coalescing_outcome o;
    for (int i = 0; i < 1000; ++i) {
        const auto delay = 1s + std::chrono::milliseconds(random.below(59'000));
        const auto due = manual_clock::now() + delay;
        schedule(at.wheel, delay, [&o, due, slack] {
            const auto now = manual_clock::now();
            o.early += now < due;
            o.late += now >= due + slack + step;
            ++o.fired;
        });
        at.pass(step);
        at.pass(step);
    }
    while (at.wheel.pending() != 0) at.pass(step);
    o.wakeups = at.wheel.stats().wakeups;
    return o;
}

} // namespace

TEST_CASE("coalescing_keeps_its_range_and_saves_wakeups") {
    const auto exact = run_thousand(0s, [](auto& wheel, auto delay, auto f) { wheel.schedule(delay, f); });
    CHECK(exact.fired == 1000);
    CHECK(exact.early + exact.late == 0);
    for (const auto slack : std::initializer_list<std::chrono::nanoseconds>{100ms, 1s, 5s}) {
        const auto in_range = run_thousand(
            slack, [&](auto& wheel, auto delay, auto f) { wheel.schedule(between(delay, delay + slack), f); });
        MESSAGE("slack " << slack.count() / 1'000'000 << " ms: wake-ups " << exact.wakeups << " exact, "
                         << in_range.wakeups << " in range");
        CHECK(in_range.fired == 1000);
        CHECK(in_range.early == 0);
        CHECK(in_range.late == 0);
        CHECK(in_range.wakeups < exact.wakeups);
    }
}

TEST_CASE("coalescing_odd_ranges_are_as_exact_timers") {
    virtual_wheel at({.tick = 10ms});
    int fired = 0;
    const auto count = [&] { ++fired; };
    at.wheel.schedule(between(-1s, -1s), count);
    at.wheel.schedule(between(1ms, 5ms), count);
    at.run();
    CHECK(fired == 1);
    at.pass(10ms);
    CHECK(fired == 2);
    at.wheel.schedule(between(50ms, 20ms), count); // upside down: the earliest counts
    at.pass(40ms);
    CHECK(fired == 2);
    at.pass(10ms);
    CHECK(fired == 3);
    auto far = at.wheel.schedule(between(1h, 2h), count);
    at.wheel.schedule(90min, count);
    CHECK(far.cancel());
    at.wheel.schedule(between(1h, 2h), count); // with the one at 90 min
    at.pass(90min - 10ms);
    CHECK(fired == 3);
    at.pass(10ms);
    CHECK(fired == 5);
}
