// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The buckets of a Prometheus histogram: their bounds, and the exact sum.
#include <cogwheel/counts/duration_histogram.hpp>

#include <doctest/doctest.h>

#include <limits>

using cogwheel::duration_histogram;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST_CASE("bounds_double_from_100_us") {
    CHECK(duration_histogram::bound(0) == 100us);
    CHECK(duration_histogram::bound(1) == 200us);
    CHECK(duration_histogram::bound(10) == 102'400us);
    CHECK(duration_histogram::bound(19) == 52'428'800us);
}

TEST_CASE("record_a_bound_belongs_to_its_bucket") {
    for (std::size_t i = 0; i < duration_histogram::bounds; ++i) {
        CAPTURE(i);
        duration_histogram h;
        h.record(h.bound(i));
        CHECK(h.count(i) == 1);
        h.record(h.bound(i) + 1ns);
        CHECK(h.count(i + 1) == 1);
        CHECK(h.at_most(i) == 1);
        CHECK(h.at_most(h.bounds) == 2);
    }
}

TEST_CASE("record_zero_and_less_is_in_the_first_bucket") {
    duration_histogram h;
    h.record(0ns);
    h.record(-5s);
    h.record(nanoseconds::min());
    CHECK(h.count(0) == 3);
    CHECK(h.sum_seconds() == 0);
    CHECK(h.max() == 0ns);
}

TEST_CASE("record_many_times_counts_each") {
    duration_histogram h;
    h.record(150us, 1'000'000);
    h.record(3s, 0);
    CHECK(h.total() == 1'000'000);
    CHECK(h.count(1) == 1'000'000);
    CHECK(h.max() == 150us);
    CHECK(h.sum_seconds() == doctest::Approx(150).epsilon(1e-12));
    CHECK(h.mean() == 150us);
}

TEST_CASE("sum_is_exact_across_whole_seconds") {
    duration_histogram h;
    for (int i = 0; i < 10; ++i) h.record(999'999'999ns);
    h.record(10ns);
    CHECK(h.sum_seconds() == 10);
}

TEST_CASE("sum_does_not_overflow") {
    duration_histogram h;
    const std::uint64_t times = std::uint64_t{1} << 40;
    h.record(1h, times); // 125 million years: 64 bits of nanoseconds hold 584
    CHECK(h.sum_seconds() == doctest::Approx(3600.0 * static_cast<double>(times)).epsilon(1e-12));
    h.record(nanoseconds::max());
    CHECK(h.max() == nanoseconds::max());
    CHECK(h.count(h.bounds) == times + 1);
}

TEST_CASE("mean_is_at_most_the_largest_value") {
    duration_histogram h;
    h.record(nanoseconds::max(), 3);
    CHECK(h.mean() == nanoseconds::max());
}

TEST_CASE("empty_has_no_mean") {
    const duration_histogram h;
    CHECK(h.mean() == 0ns);
    CHECK(h.total() == 0);
    CHECK(h == duration_histogram());
}
