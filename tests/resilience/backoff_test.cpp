// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How delays grow without jitter, that they saturate at the cap, and what is no backoff.
#include "support/constant_names.hpp"
#include "support/refusal.hpp"

#include <cogwheel/resilience/backoff.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using cogwheel::backoff;
using cogwheel::backoff_jitter;
using std::chrono::nanoseconds;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

static_assert(std::is_trivially_copyable_v<backoff> && std::equality_comparable<backoff>);
static_assert(noexcept(std::declval<backoff&>().without_jitter(1)));

namespace {

struct no_random {
    using result_type = std::uint64_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()() const {
        FAIL_CHECK("drew a random number without jitter");
        return 0;
    }
};

std::vector<nanoseconds> delays(const backoff& b, std::uint32_t count) {
    no_random random;
    std::vector<nanoseconds> all;
    for (std::uint32_t retry = 1; retry <= count; ++retry) {
        all.push_back(b.next(retry, 0ns, random));
        CHECK(all.back() == b.without_jitter(retry));
    }
    return all;
}
using table = std::vector<nanoseconds>;

} // namespace

TEST_CASE("backoff_constant_stays") {
    CHECK(delays(backoff::constant(250ms), 4) == table{250ms, 250ms, 250ms, 250ms});
    CHECK(delays(backoff::constant(0s), 2) == table{0s, 0s});
    CHECK(backoff::constant(250ms).without_jitter(~std::uint32_t{0}) == 250ms);
}

TEST_CASE("backoff_linear_adds_a_step") {
    CHECK(delays(backoff::linear(100ms, 50ms), 5) == table{100ms, 150ms, 200ms, 250ms, 300ms});
    CHECK(delays(backoff::linear(0s, 1s), 4) == table{0s, 1s, 2s, 3s});
    CHECK(delays(backoff::linear(1s, 0s), 3) == table{1s, 1s, 1s});
    CHECK(delays(backoff::linear(100ms, 50ms).cap(180ms), 4) == table{100ms, 150ms, 180ms, 180ms});
}

TEST_CASE("backoff_exponential_multiplies") {
    CHECK(delays(backoff::exponential(100ms), 6) == table{100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms});
    CHECK(delays(backoff::exponential(100ms, 3), 4) == table{100ms, 300ms, 900ms, 2700ms});
    CHECK(delays(backoff::exponential(1s, 1.5), 4) == table{1s, 1500ms, 2250ms, 3375ms});
    CHECK(delays(backoff::exponential(100ms, 1), 3) == table{100ms, 100ms, 100ms});
    CHECK(delays(backoff::exponential(100ms).cap(1s), 6) == table{100ms, 200ms, 400ms, 800ms, 1s, 1s});
}

TEST_CASE("backoff_cap_at_the_first_delay_is_constant") {
    CHECK(delays(backoff::exponential(1s).cap(1s), 3) == table{1s, 1s, 1s});
    CHECK(delays(backoff::linear(1s, 1s).cap(1s), 3) == table{1s, 1s, 1s});
}

TEST_CASE("backoff_overflow_saturates_at_its_cap") {
    constexpr std::uint32_t last = ~std::uint32_t{0};
    for (const std::uint32_t retry : {34u, 35u, 63u, 64u, 65u, 1000u, 0x80000000u, last}) {
        CAPTURE(retry);
        CHECK(backoff::exponential(1s).cap(30s).without_jitter(retry) == 30s);
        CHECK(backoff::exponential(1s, 1e300).cap(30s).without_jitter(retry) == 30s);
        CHECK(backoff::linear(nanoseconds::max() / 2, nanoseconds::max() / 2).without_jitter(retry) ==
              nanoseconds::max());
    }
    CHECK(backoff::exponential(1ns).without_jitter(63) == nanoseconds(std::int64_t{1} << 62));
    CHECK(backoff::exponential(1ns).without_jitter(64) == nanoseconds::max()); // 2^63 is one too many
    CHECK(backoff::exponential(1ns).without_jitter(last) == nanoseconds::max());
    CHECK(backoff::linear(1s, 1s).cap(1h).without_jitter(last) == 1h);
    CHECK(backoff::linear(0ns, 1ns).without_jitter(last) == nanoseconds(last - 1));
    CHECK(backoff::linear(1ns, nanoseconds::max() - 1ns).without_jitter(2) == nanoseconds::max());
    CHECK(backoff::linear(2ns, nanoseconds::max() - 1ns).without_jitter(2) == nanoseconds::max());
    CHECK(backoff::constant(std::chrono::hours::max()).without_jitter(last) == nanoseconds::max());
}

TEST_CASE("backoff_factor_just_above_one_grows_in_no_time") {
    // A loop of four billion multiplications would hang here.
    const auto b = backoff::exponential(1s, 1 + 1e-9).cap(1h);
    CHECK(b.without_jitter(1'000'000'000) > 2718ms);
    CHECK(b.without_jitter(1'000'000'000) < 2719ms);
}

TEST_CASE("backoff_equal_values_are_equal") {
    CHECK(backoff::exponential(1s).cap(30s) == backoff::exponential(1000ms, 2).cap(30s));
    CHECK(backoff::exponential(1s) != backoff::exponential(1s).jitter(backoff_jitter::full));
    CHECK(backoff::exponential(1s) != backoff::exponential(1s, 3));
    CHECK(backoff::constant(1s) == backoff::linear(1s, 0s));
}

TEST_CASE("backoff_bad_input_names_value_range_and_remedy") {
    const std::string negative = refusal_of([] { backoff::constant(-1ms); });
    CHECK(says(negative, "-1000000 ns"));
    CHECK(says(negative, "zero or more"));
    CHECK(says(refusal_of([] { backoff::linear(-1ns, 1s); }), "first delay is -1 ns"));
    CHECK(says(refusal_of([] { backoff::exponential(-1ns); }), "first delay is -1 ns"));
    CHECK(says(refusal_of([] { backoff::linear(1s, -1ns); }), "step is -1 ns"));
    CHECK(says(refusal_of([] { backoff::exponential(0s); }), "above zero"));
    for (const double factor : {0.0, 0.999, -2.0, std::nan(""), HUGE_VAL, -HUGE_VAL})
        CHECK(says(refusal_of([&] { backoff::exponential(1s, factor); }), "factor is"));
    const std::string low = refusal_of([] { backoff::exponential(1s).cap(999ms); });
    CHECK(says(low, "cap is 999000000 ns"));
    CHECK(says(low, "1000000000 ns"));
    CHECK(says(refusal_of([] { backoff::constant(1s).jitter(static_cast<backoff_jitter>(4)); }), "jitter is 4"));
    CHECK(says(refusal_of([] { backoff::constant(0s).jitter(backoff_jitter::decorrelated); }), "full jitter"));
}

TEST_CASE("backoff_jitter_has_names") {
    check_names<backoff_jitter>({{backoff_jitter::none, "none"},
                                 {backoff_jitter::full, "full"},
                                 {backoff_jitter::equal, "equal"},
                                 {backoff_jitter::decorrelated, "decorrelated"}});
}
