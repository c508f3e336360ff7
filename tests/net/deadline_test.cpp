// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A deadline handed down a call chain: the sooner one wins, nothing overflows.

#include <cogwheel/net/deadline.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using clock_type = cogwheel::testing::manual_clock;
using deadline = cogwheel::basic_deadline<clock_type>;
using time_point = deadline::time_point;

static_assert(std::is_nothrow_default_constructible_v<deadline> && std::is_trivially_copyable_v<deadline>);

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
    constexpr deadline none;
    CHECK_FALSE(none);
    CHECK_FALSE(none.expired(time_point(24h * 365 * 100)));
    CHECK(none.remaining(time_point(1s)) == deadline::duration::max());
    CHECK(none.expiry() == time_point::max());
}

TEST_CASE("deadline_after_counts_from_the_reading_given_or_the_clock") {
    CHECK(deadline::after(2s, time_point(3s)).expiry() == time_point(5s));
    const time_point now = clock_type::now();
    CHECK(deadline::after(2s).expiry() == now + 2s);
    CHECK(deadline::after(2s).remaining() == 2s);
    clock_type::advance(500ms);
    CHECK(deadline::after(2s, now).remaining() == 1500ms);
    CHECK_FALSE(deadline::after(2s, now).expired());
    clock_type::advance(1500ms);
    CHECK(deadline::after(2s, now).expired());
}

TEST_CASE("deadline_zero_and_negative_delays_have_come") {
    for (const auto delay : {0s, -1s, -3600s}) {
        const deadline d = deadline::after(delay, time_point(10s));
        CHECK(d.expired(time_point(10s)));
        CHECK(d.remaining(time_point(10s)) == 0s);
    }
}

TEST_CASE("deadline_extreme_delays_saturate") {
    CHECK_FALSE(deadline::after(std::chrono::hours::max(), time_point(1s)));
    CHECK_FALSE(deadline::after(std::chrono::nanoseconds::max(), time_point(1s)));
    CHECK(deadline::after(std::chrono::hours::min(), time_point(1s)).expired(time_point::min() + 1s));
    CHECK(deadline(time_point::max() - 1s).remaining(time_point::min() + 1s) == deadline::duration::max());
}

TEST_CASE("deadline_min_is_the_sooner_one") {
    const deadline outer = deadline::after(2s, time_point(0s));
    CHECK(outer.min(500ms, time_point(1s)).expiry() == time_point(1500ms));
    CHECK(outer.min(1500ms, time_point(1s)) == outer);
    CHECK(outer.min(deadline()) == outer);
    CHECK(deadline().min(outer) == outer);
    CHECK(deadline().min(1s, time_point(4s)).expiry() == time_point(5s));
    CHECK(outer.min(-1s, time_point(1s)).expired(time_point(1s)));
    const time_point now = clock_type::now();
    CHECK(deadline().min(1s).expiry() == now + 1s);
}

TEST_CASE("deadline_remaining_rounds_up_where_the_clock_is_coarse") {
    CHECK(cogwheel::basic_deadline<coarse>::after(1us).expiry() == coarse::time_point(1ms));
}
