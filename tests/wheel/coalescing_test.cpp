// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The choice of a tick within a range: round ones against a search of all, occupied ones against what was filed.
#include "support/random.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <cogwheel/wheel/detail/coalescing.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace cogwheel;
using namespace cogwheel_tests;

TEST_CASE("roundest_is_the_tick_that_most_powers_of_two_divide") {
    const auto zeros = [](std::uint64_t t) { return t == 0 ? 64 : std::countr_zero(t); };
    for (std::uint64_t from = 0; from < 130; ++from)
        for (std::uint64_t to = from; to < 200; ++to) {
            const tick chosen = detail::roundest({from}, {to});
            int most = -1;
            for (std::uint64_t t = from; t <= to; ++t) most = std::max(most, zeros(t));
            if (chosen.value < from || chosen.value > to || zeros(chosen.value) != most)
                FAIL("of " << from << " .. " << to << ": " << chosen.value);
        }
    CHECK(detail::roundest(tick::max(), tick::max()) == tick::max());
    CHECK(detail::roundest({1}, tick::max()) == tick{std::uint64_t{1} << 62});
}

TEST_CASE_TEMPLATE("occupied_names_a_tick_of_the_range_that_was_filed", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {1U, 4U, 512U}) {
        random_source random(slots);
        basic_wheel_fixture<Wheel> bench(slots, 77);
        std::set<std::uint64_t> filed;
        for (int i = 0; i < 300; ++i) {
            const std::uint64_t at = 78 + random.below(i % 10 == 0 ? 100'000 : 600);
            bench.schedule(at);
            filed.insert(at);
            const std::uint64_t from = 78 + random.below(700), to = from + random.below(i % 2 == 0 ? 5 : 500);
            const auto found = bench.wheel.occupied(tick{from}, tick{to});
            if (!found) continue;
            CHECK((found->value >= from && found->value <= to));
            CHECK(filed.count(found->value) == 1);
        }
        // What is alone in its slot is found.
        basic_wheel_fixture<Wheel> lonely(slots, 77);
        for (const std::uint64_t at : {std::uint64_t{80}, std::uint64_t{5'000}, std::uint64_t{1'000'000}}) {
            numbered_timer& t = lonely.schedule(at);
            CHECK(lonely.wheel.occupied(tick{78}, tick{2'000'000}) == tick{at});
            CHECK(lonely.wheel.occupied(tick{at}, tick{at}) == tick{at});
            CHECK(lonely.wheel.occupied(tick{78}, tick{at - 1}) == std::nullopt);
            CHECK(lonely.wheel.occupied(tick{at + 1}, tick::max()) == std::nullopt);
            lonely.wheel.cancel(t.node);
            lonely.wheel.trim();
        }
    }
}
