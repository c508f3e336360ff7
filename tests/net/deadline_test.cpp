// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A deadline handed down a call chain: the sooner one wins, nothing overflows.

#include <cogwheel/net/deadline.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using clock_type = cogwheel::testing::manual_clock;
using due = cogwheel::basic_deadline<clock_type>;
using point = due::time_point;

static_assert(std::is_nothrow_default_constructible_v<due> && std::is_trivially_copyable_v<due>);

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
    constexpr due none;
    CHECK_FALSE(none);
    CHECK_FALSE(none.expired(point(24h * 365 * 100)));
    CHECK(none.remaining(point(1s)) == due::duration::max());
    CHECK(none.expiry() == point::max());
}

TEST_CASE("deadline_after_counts_from_the_reading_given_or_the_clock") {
    CHECK(due::after(2s, point(3s)).expiry() == point(5s));
    const point now = clock_type::now();
    CHECK(due::after(2s).expiry() == now + 2s);
    CHECK(due::after(2s).remaining() == 2s);
    clock_type::advance(500ms);
    CHECK(due::after(2s, now).remaining() == 1500ms);
    CHECK_FALSE(due::after(2s, now).expired());
    clock_type::advance(1500ms);
    CHECK(due::after(2s, now).expired());
}

TEST_CASE("deadline_zero_and_negative_delays_have_come") {
    for (const auto delay : {0s, -1s, -3600s}) {
        const due d = due::after(delay, point(10s));
        CHECK(d.expired(point(10s)));
        CHECK(d.remaining(point(10s)) == 0s);
    }
}

TEST_CASE("deadline_extreme_delays_saturate") {
    CHECK_FALSE(due::after(std::chrono::hours::max(), point(1s)));
    CHECK_FALSE(due::after(std::chrono::nanoseconds::max(), point(1s)));
    CHECK(due::after(std::chrono::hours::min(), point(1s)).expired(point::min() + 1s));
    CHECK(due(point::max() - 1s).remaining(point::min() + 1s) == due::duration::max());
}

TEST_CASE("deadline_min_is_the_sooner_one") {
    const due outer = due::after(2s, point(0s));
    CHECK(outer.min(500ms, point(1s)).expiry() == point(1500ms));
    CHECK(outer.min(1500ms, point(1s)) == outer);
    CHECK(outer.min(due()) == outer);
    CHECK(due().min(outer) == outer);
    CHECK(due().min(1s, point(4s)).expiry() == point(5s));
    CHECK(outer.min(-1s, point(1s)).expired(point(1s)));
    const point now = clock_type::now();
    CHECK(due().min(1s).expiry() == now + 1s);
}

TEST_CASE("deadline_remaining_rounds_up_where_the_clock_is_coarse") {
    CHECK(cogwheel::basic_deadline<coarse>::after(1us).expiry() == coarse::time_point(1ms));
}
