// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A deadline handed down a call chain: the sooner one wins, nothing overflows.

#include <cogwheel/resilience/deadline.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using clock_type = cogwheel::testing::manual_clock;
using virtual_deadline = cogwheel::basic_deadline<clock_type>;
using virtual_time = virtual_deadline::time_point;

static_assert(std::is_nothrow_default_constructible_v<virtual_deadline> &&
              std::is_trivially_copyable_v<virtual_deadline>);

namespace {

struct coarse {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<coarse, duration>;
    static time_point now() noexcept { return {}; }
};

} // namespace

TEST_CASE("deadline_none_never_comes") {
    constexpr virtual_deadline none;
    CHECK_FALSE(none);
    CHECK_FALSE(none.expired(virtual_time(24h * 365 * 100)));
    CHECK(none.remaining(virtual_time(1s)) == virtual_deadline::duration::max());
    CHECK(none.expiry() == virtual_time::max());
}

TEST_CASE("deadline_after_counts_from_the_reading_given_or_the_clock") {
    CHECK(virtual_deadline::after(2s, virtual_time(3s)).expiry() == virtual_time(5s));
    const virtual_time now = clock_type::now();
    CHECK(virtual_deadline::after(2s).expiry() == now + 2s);
    CHECK(virtual_deadline::after(2s).remaining() == 2s);
    clock_type::advance(500ms);
    CHECK(virtual_deadline::after(2s, now).remaining() == 1500ms);
    CHECK_FALSE(virtual_deadline::after(2s, now).expired());
    clock_type::advance(1500ms);
    CHECK(virtual_deadline::after(2s, now).expired());
}

TEST_CASE("deadline_zero_and_negative_delays_have_come") {
    for (const auto delay : {0s, -1s, -3600s}) {
        const virtual_deadline d = virtual_deadline::after(delay, virtual_time(10s));
        CHECK(d.expired(virtual_time(10s)));
        CHECK(d.remaining(virtual_time(10s)) == 0s);
    }
}

TEST_CASE("deadline_extreme_delays_saturate") {
    CHECK_FALSE(virtual_deadline::after(std::chrono::hours::max(), virtual_time(1s)));
    CHECK_FALSE(virtual_deadline::after(std::chrono::nanoseconds::max(), virtual_time(1s)));
    CHECK(virtual_deadline::after(std::chrono::hours::min(), virtual_time(1s)).expired(virtual_time::min() + 1s));
    CHECK(virtual_deadline(virtual_time::max() - 1s).remaining(virtual_time::min() + 1s) ==
          virtual_deadline::duration::max());
}

TEST_CASE("deadline_min_is_the_sooner_one") {
    const virtual_deadline outer = virtual_deadline::after(2s, virtual_time(0s));
    CHECK(outer.min(500ms, virtual_time(1s)).expiry() == virtual_time(1500ms));
    CHECK(outer.min(1500ms, virtual_time(1s)) == outer);
    CHECK(outer.min(virtual_deadline()) == outer);
    CHECK(virtual_deadline().min(outer) == outer);
    CHECK(virtual_deadline().min(1s, virtual_time(4s)).expiry() == virtual_time(5s));
    CHECK(outer.min(-1s, virtual_time(1s)).expired(virtual_time(1s)));
    const virtual_time now = clock_type::now();
    CHECK(virtual_deadline().min(1s).expiry() == now + 1s);
}

TEST_CASE("deadline_remaining_from_the_earliest_point_saturates") {
    CHECK(virtual_deadline(virtual_time(1s)).remaining(virtual_time::min()) == virtual_deadline::duration::max());
    CHECK(virtual_deadline(virtual_time(-1s)).remaining(virtual_time::min()) ==
          virtual_time(-1s) - virtual_time::min());
}

TEST_CASE("deadline_remaining_rounds_up_where_the_clock_is_coarse") {
    CHECK(cogwheel::basic_deadline<coarse>::after(1us).expiry() == coarse::time_point(1ms));
}
