// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checked arithmetic: what other compilers would use gives what the built-in functions give, at all edges.
#include "support/random.hpp"

#include <cogwheel/detail/overflow.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

template <class Portable, class Own>
void same(std::int64_t a, std::int64_t b, Portable portable, Own own) {
    std::int64_t x = 1, y = 2;
    const bool over = portable(a, b, x), also = own(a, b, y);
    CHECK(over == also);
    CHECK(x == y);
}

void compare(std::int64_t a, std::int64_t b) {
    CAPTURE(a);
    CAPTURE(b);
    same(a, b, detail::portable::add_overflow, detail::add_overflow);
    same(a, b, detail::portable::sub_overflow, detail::sub_overflow);
    same(a, b, detail::portable::mul_overflow, detail::mul_overflow);
}

} // namespace

TEST_CASE("overflow_is_told_alike_by_both_forms") {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
    std::vector<std::int64_t> edges{0,
                                    1,
                                    -1,
                                    2,
                                    -2,
                                    3'037'000'499,
                                    3'037'000'500,
                                    -3'037'000'500,
                                    most / 2,
                                    most / 2 + 1,
                                    least / 2,
                                    least / 2 - 1,
                                    most - 1,
                                    most,
                                    least + 1,
                                    least};
    for (const std::int64_t a : edges)
        for (const std::int64_t b : edges) compare(a, b);
    random_source random(1);
    for (int i = 0; i < 20'000; ++i) {
        const auto any = [&] {
            return static_cast<std::int64_t>(random() >> random.below(64)) * (random.below(2) == 0 ? 1 : -1);
        };
        compare(any(), any());
    }
}

TEST_CASE("overflow_in_a_constant") {
    constexpr bool over = [] {
        std::int64_t sum = 0;
        return detail::portable::add_overflow(std::numeric_limits<std::int64_t>::max(), 1, sum) &&
               sum == std::numeric_limits<std::int64_t>::min();
    }();
    static_assert(over);
}
