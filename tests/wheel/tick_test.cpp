// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Durations become ticks: deadlines up, the present down, both saturating, in every phase of the tick.
#include "support/random.hpp"

#include <cogwheel/wheel/tick.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <ratio>

using namespace cogwheel;
using namespace std::chrono_literals;
using std::chrono::duration;
using std::chrono::nanoseconds;

namespace {
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
} // namespace

TEST_CASE("tick_scale_due_rounds_up") {
    struct row {
        nanoseconds length, since_origin;
        std::uint64_t due;
    };
    constexpr row table[] = {
        {10ms, nanoseconds::min(), 0},
        {10ms, -1ns, 0},
        {10ms, 0ns, 0},
        {10ms, 1ns, 1},
        {10ms, 10ms - 1ns, 1},
        {10ms, 10ms, 1},
        {10ms, 10ms + 1ns, 2},
        {10ms, 8h, 2'880'000},
        {10ms, 8h + 1ns, 2'880'001},
        {10ms, 8h - 1ns, 2'880'000},
        {1ns, 7ns, 7},
        {3ns, 7ns, 3},
        {3ns, 6ns, 2},
        {1ns, nanoseconds::max() - 1ns, std::uint64_t(int64_max) - 1},
        {1ns, nanoseconds::max(), std::uint64_t(int64_max)},
        {nanoseconds::max(), 1ns, 1},
        {nanoseconds::max(), nanoseconds::max() - 1ns, 1},
    };
    for (const row& r : table) {
        CAPTURE(r.length.count());
        CAPTURE(r.since_origin.count());
        CHECK(tick_scale(r.length).due(r.since_origin).value == r.due);
    }
}

TEST_CASE("tick_scale_due_for_ever_is_the_last_tick") {
    for (const nanoseconds length : {1ns, 999ns, nanoseconds(10ms), nanoseconds(1h)})
        CHECK(tick_scale(length).due(nanoseconds::max()) == tick::max());
}

TEST_CASE("tick_scale_now_rounds_down") {
    struct row {
        nanoseconds length, since_origin;
        std::uint64_t now;
    };
    constexpr row table[] = {
        {10ms, nanoseconds::min(), 0},
        {10ms, -1ns, 0},
        {10ms, 0ns, 0},
        {10ms, 1ns, 0},
        {10ms, 10ms - 1ns, 0},
        {10ms, 10ms, 1},
        {10ms, 20ms - 1ns, 1},
        {10ms, 20ms, 2},
        {10ms, 8h, 2'880'000},
        {10ms, 8h - 1ns, 2'879'999},
        {1ns, nanoseconds::max(), std::uint64_t(int64_max)},
        {nanoseconds::max(), nanoseconds::max(), 1},
    };
    for (const row& r : table) {
        CAPTURE(r.length.count());
        CAPTURE(r.since_origin.count());
        CHECK(tick_scale(r.length).now(r.since_origin).value == r.now);
    }
}

TEST_CASE("tick_scale_every_phase_fires_never_early_and_less_than_a_tick_late") {
    for (const std::int64_t length : {1, 2, 7, 10}) {
        const tick_scale scale{nanoseconds(length)};
        for (std::int64_t deadline = 0; deadline < 3 * length + 2; ++deadline) {
            std::int64_t present = 0;
            while (scale.now(nanoseconds(present)) < scale.due(nanoseconds(deadline))) ++present;
            CHECK(present >= deadline);
            CHECK(present < deadline + length);
            CHECK(scale.start_of(scale.due(nanoseconds(deadline))).count() == present);
        }
    }
}

TEST_CASE("tick_scale_any_length_and_moment_divide_exactly") {
    cogwheel_tests::random_source random(7);
    const auto any = [&](unsigned bits) { return static_cast<std::int64_t>(random() >> (64 - bits)); };
    for (int i = 0; i < 200'000; ++i) {
        const std::int64_t length = std::max<std::int64_t>(1, any(1 + static_cast<unsigned>(random.below(63))));
        std::int64_t at = any(1 + static_cast<unsigned>(random.below(63)));
        if (i % 2 == 0) at = at / length * length - i % 4 / 2; // where a quotient that is off by one shows
        if (at < 0 || at == nanoseconds::max().count()) continue;
        const tick_scale scale{nanoseconds(length)};
        REQUIRE(scale.now(nanoseconds(at)).value == static_cast<std::uint64_t>(at / length));
        REQUIRE(scale.due(nanoseconds(at)).value ==
                static_cast<std::uint64_t>(at / length + (at % length != 0 ? 1 : 0)));
    }
}

TEST_CASE("tick_scale_start_of_saturates") {
    CHECK(tick_scale(10ms).start_of({0}) == 0ns);
    CHECK(tick_scale(10ms).start_of({3}) == 30ms);
    CHECK(tick_scale(1ns).start_of(tick::max()) == nanoseconds::max());
    CHECK(tick_scale(10ms).start_of(tick::max()) == nanoseconds::max());
    CHECK(tick_scale(10ms).length() == 10ms);
    const auto last = static_cast<std::uint64_t>(int64_max) / 10;
    CHECK(tick_scale(10ns).start_of({last}).count() == static_cast<std::int64_t>(last * 10));
    CHECK(tick_scale(10ns).start_of({last + 1}) == nanoseconds::max());
}

TEST_CASE("tick_plus_saturates") {
    CHECK((tick{5} + 7) == tick{12});
    CHECK((tick::max() + 0) == tick::max());
    CHECK((tick::max() + 1) == tick::max());
    CHECK((tick{1} + ~std::uint64_t{0}) == tick::max());
    CHECK((tick{0} + (tick::max().value - 1)).value == tick::max().value - 1);
}

TEST_CASE("saturate_to_ns_of_a_float_is_not_early") {
    using seconds = std::chrono::duration<float>;
    CHECK(detail::saturate_to_ns(seconds(604'800)) == 168h);
    CHECK(detail::saturate_to_ns(seconds(0.1F)) == 100'000'002ns); // this float lies above 0.1
    CHECK(detail::saturate_to_ns(seconds(-604'800)) == -168h);
    CHECK(detail::saturate_to_ns(seconds::max()) == std::chrono::nanoseconds::max());
    CHECK(detail::saturate_to_ns(seconds::min()) == std::chrono::nanoseconds::min());
    CHECK(detail::saturate_to_ns(seconds(std::numeric_limits<float>::quiet_NaN())) == 0ns);
    CHECK(detail::saturate_to_ns(std::chrono::duration<float, std::ratio<3600>>(1'000'000)) == 1'000'000h);
}

TEST_CASE("saturate_to_ns_keeps_what_fits_and_rounds_up") {
    CHECK(detail::saturate_to_ns(3ns) == 3ns);
    CHECK(detail::saturate_to_ns(-3s) == -3s);
    CHECK(detail::saturate_to_ns(8h) == 8h);
    CHECK(detail::saturate_to_ns(duration<double>(0.5)) == 500ms);
    CHECK(detail::saturate_to_ns(duration<double>(-0.5)) == -500ms);
    CHECK(detail::saturate_to_ns(duration<double>(1e-10)) == 1ns);
    CHECK(detail::saturate_to_ns(duration<std::int64_t, std::pico>(1001)) == 2ns);
    CHECK(detail::saturate_to_ns(duration<std::int64_t, std::pico>(-1999)) == -1ns);
    CHECK(detail::saturate_to_ns(duration<std::int64_t, std::ratio<1, 3>>(2)) == 666'666'667ns);
    CHECK(detail::saturate_to_ns(duration<std::uint8_t, std::ratio<3600>>(200)) == 200h);
}

TEST_CASE("saturate_to_ns_saturates_at_both_ends") {
    CHECK(detail::saturate_to_ns(std::chrono::hours::max()) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(std::chrono::hours::min()) == nanoseconds::min());
    CHECK(detail::saturate_to_ns(std::chrono::milliseconds::max()) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(std::chrono::microseconds::min()) == nanoseconds::min());
    CHECK(detail::saturate_to_ns(nanoseconds::max()) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<std::uint64_t, std::nano>(~std::uint64_t{0})) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<std::int64_t, std::ratio<1, 3>>(int64_max)) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<std::int64_t, std::ratio<1, 3>>(27'000'000'000)) == 9'000'000'000s);
    CHECK(detail::saturate_to_ns(9'199'999'999s) == nanoseconds(9'199'999'999'000'000'000));
    CHECK(detail::saturate_to_ns(-9'199'999'999s) == nanoseconds(-9'199'999'999'000'000'000));
    CHECK(detail::saturate_to_ns(9'200'000'000s) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(-9'200'000'000s) == nanoseconds::min());
    CHECK(detail::saturate_to_ns(std::chrono::hours(2'555'555)) == 9'199'998'000s);
    CHECK(detail::saturate_to_ns(std::chrono::hours(-2'555'555)) == -9'199'998'000s);
    CHECK(detail::saturate_to_ns(std::chrono::hours(2'555'556)) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<int, std::ratio<9'210'000'000>>(0)) == 0s);
    CHECK(detail::saturate_to_ns(duration<int, std::ratio<9'210'000'000>>(1)) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<std::int64_t, std::pico>::max()) == nanoseconds(int64_max / 1000 + 1));
    CHECK(detail::saturate_to_ns(duration<double>(infinity)) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<double>(-infinity)) == nanoseconds::min());
    CHECK(detail::saturate_to_ns(duration<double>(1e300)) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<float>(1e30F)) == nanoseconds::max());
    CHECK(detail::saturate_to_ns(duration<double>(not_a_number)) == nanoseconds::zero());
    CHECK(detail::saturate_to_ns(duration<double, std::nano>(not_a_number)) == nanoseconds::zero());
}

TEST_CASE("saturating_add_saturates_at_both_ends") {
    CHECK(detail::saturating_add(2s, 3s) == 5s);
    CHECK(detail::saturating_add(2s, -3s) == -1s);
    CHECK(detail::saturating_add(nanoseconds::max(), 1ns) == nanoseconds::max());
    CHECK(detail::saturating_add(1ns, nanoseconds::max()) == nanoseconds::max());
    CHECK(detail::saturating_add(nanoseconds::min(), -1ns) == nanoseconds::min());
    CHECK(detail::saturating_add(-1ns, nanoseconds::min()) == nanoseconds::min());
    CHECK(detail::saturating_add(nanoseconds::min(), nanoseconds::max()) == -1ns);
    CHECK(detail::saturating_add(nanoseconds::max(), 0ns) == nanoseconds::max());
}
