// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The histogram against the sorted recordings: no quantile below the truth, none more than 6.25% above it.
#include <cogwheel/counts/lateness_histogram.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using cogwheel::lateness_histogram;
using std::chrono::nanoseconds;

namespace {

void check_against_sorted(std::vector<std::int64_t> values) {
    lateness_histogram histogram;
    for (const std::int64_t v : values) histogram.record(nanoseconds(v));
    for (std::int64_t& v : values) v = std::max<std::int64_t>(v, 0);
    std::sort(values.begin(), values.end());
    CHECK(histogram.total() == values.size());
    CHECK(histogram.max().count() == values.back());
    for (const double q : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        CAPTURE(q);
        const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
        const std::int64_t exact = values[rank == 0 ? 0 : rank - 1];
        const std::int64_t got = histogram.quantile(q).count();
        CHECK(got >= exact);
        CHECK(got <= values.back());
        CHECK(got - exact <= exact / 16);
    }
}

} // namespace

TEST_CASE("quantile_empty_is_zero") {
    const lateness_histogram histogram;
    CHECK(histogram.quantile(0.5) == nanoseconds(0));
    CHECK(histogram.max() == nanoseconds(0));
    CHECK(histogram.total() == 0);
}

TEST_CASE("quantile_one_value_is_that_value") {
    for (const std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{15}, std::int64_t{16}, std::int64_t{17},
                                 std::int64_t{1'000'003}, std::numeric_limits<std::int64_t>::max()}) {
        CAPTURE(v);
        check_against_sorted({v});
    }
}

TEST_CASE("quantile_negative_counts_as_zero") {
    check_against_sorted({-5, -1, std::numeric_limits<std::int64_t>::min()});
}

TEST_CASE("quantile_small_values_are_exact") {
    std::vector<std::int64_t> values;
    for (std::int64_t v = 0; v < 16; ++v) values.insert(values.end(), static_cast<std::size_t>(v + 1), v);
    check_against_sorted(values);
}

TEST_CASE("quantile_around_every_power_of_two_within_bound") {
    for (unsigned bits = 1; bits < 63; ++bits) {
        CAPTURE(bits);
        const std::int64_t p = std::int64_t{1} << bits;
        check_against_sorted({p - 1, p, p + 1, p + p / 2});
    }
}

TEST_CASE("quantile_random_values_within_bound") {
    std::mt19937_64 random(20'260'701);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::int64_t> values;
        for (int i = 0; i < 500; ++i) values.push_back(static_cast<std::int64_t>(random() >> (1 + random() % 63)));
        check_against_sorted(values);
    }
}

TEST_CASE("quantile_out_of_range_is_clamped") {
    lateness_histogram histogram;
    histogram.record(nanoseconds(3));
    histogram.record(nanoseconds(9));
    CHECK(histogram.quantile(-1).count() == 3);
    CHECK(histogram.quantile(2).count() == 9);
}
