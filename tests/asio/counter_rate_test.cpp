// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The rate of a counter is an upper bound, close to the truth, and known only while two windows agree.
#include <cogwheel/asio/detail/clock/counter_rate.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace std::chrono_literals;
using cogwheel::detail::counter_rate;

namespace {

/// A sample after `ns` of a counter with this frequency, taken in `gap` ns.
counter_rate::sample rate_sample(double ns, double counts_per_ns, double gap = 50) {
    const auto count = [&](double at) { return static_cast<std::uint64_t>(1e12 + at * counts_per_ns); };
    return {count(ns), count(ns + gap), std::chrono::nanoseconds(static_cast<std::int64_t>(ns + gap / 2))};
}

void feed(counter_rate& rate, double from, double to, double counts_per_ns) {
    for (double at = from; at <= to; at += 1e6) rate.observe(rate_sample(at, counts_per_ns));
}

double ns_per_count(const counter_rate& rate) { return std::ldexp(static_cast<double>(rate.per_count()), -32); }

} // namespace

TEST_CASE("rate_of_a_sound_counter_is_a_close_upper_bound") {
    for (const double frequency : {2.6, 1.0, 5.0, 0.024, 0.001}) {
        CAPTURE(frequency);
        counter_rate rate;
        feed(rate, 0, 5e6, frequency);
        CHECK(!rate.known()); // one window
        feed(rate, 6e6, 40e6, frequency);
        REQUIRE(rate.known());
        CHECK(ns_per_count(rate) >= 1 / frequency);
        CHECK(ns_per_count(rate) <= 1.001 / frequency + (frequency < 0.01 ? 1 : 0));
        feed(rate, 41e6, 4e9, frequency);
        CHECK(ns_per_count(rate) >= 1 / frequency);
        CHECK(ns_per_count(rate) <= 1.00001 / frequency + (frequency < 0.01 ? 0.01 : 0));
    }
}

TEST_CASE("rate_of_a_counter_that_changes_its_frequency_is_not_known") {
    counter_rate rate;
    feed(rate, 0, 40e6, 2.6);
    REQUIRE(rate.known());
    rate.observe(rate_sample(60e6, 2.5));
    CHECK(!rate.known());
    feed(rate, 61e6, 70e6, 2.5);
    feed(rate, 71e6, 90e6, 2.5);
    CHECK(rate.known());
    CHECK(ns_per_count(rate) >= 1 / 2.5);
}

TEST_CASE("rate_of_a_counter_that_steps_is_not_known_until_two_windows_agree_again") {
    for (const double step : {-1e9, 1e8}) {
        counter_rate rate;
        feed(rate, 0, 40e6, 1);
        REQUIRE(rate.known());
        auto stepped = rate_sample(80e6, 1);
        stepped.before += static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
        stepped.after += static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
        rate.observe(stepped);
        CHECK(!rate.known());
    }
}

TEST_CASE("rate_of_a_counter_that_stands_still_or_is_absurd_is_not_known") {
    for (const double frequency : {0.0, 1e-5, 50.0}) {
        counter_rate rate;
        feed(rate, 0, 200e6, frequency);
        CHECK(!rate.known());
    }
}

TEST_CASE("rate_ignores_samples_within_a_window_and_forgets_at_reset") {
    counter_rate rate;
    feed(rate, 0, 40e6, 1);
    const auto known = rate.per_count();
    rate.observe(rate_sample(40.5e6, 3));
    CHECK(rate.known());
    CHECK(rate.per_count() == known);
    rate.reset();
    CHECK(!rate.known());
}
