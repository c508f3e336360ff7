// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// 10,000 clients against a server that fails for 30 s, in virtual time: with jitter and budget the retries stay within
// their bound and spread; without, they are a storm.
#include "support/resilience/retry_storm.hpp"

#include <doctest/doctest.h>

using cogwheel_tests::retry_storm;

TEST_CASE("storm_with_jitter_and_budget_retries_stay_within_the_budget_and_spread") {
    retry_storm storm({.jitter = true, .budget = true});
    const auto seen = storm.run();
    CHECK(storm.served() == retry_storm::clients);

    const auto first = static_cast<double>(seen.all_first_attempts());
    const auto retries = static_cast<double>(seen.all_retries());
    const auto& b = retry_storm::budget;
    CHECK(retries <= b.capacity + b.ratio * first + b.min_per_second * seen.length().count());
    CHECK(retries > b.capacity); // it is used
    CHECK(storm.budget_stats().deposits == static_cast<std::uint64_t>(seen.all_first_attempts()));
    CHECK(storm.budget_stats().granted == static_cast<std::uint64_t>(seen.all_retries()));
    CHECK(storm.budget_stats().refused > 0);

    CHECK(seen.mean_of_retries() > 10);
    CHECK(seen.peak_of_retries() < 3 * seen.mean_of_retries());
}

TEST_CASE("storm_without_jitter_and_budget_all_retry_at_the_same_moment") {
    retry_storm storm({.jitter = false, .budget = false});
    const auto seen = storm.run();
    CHECK(storm.served() == retry_storm::clients);
    CHECK(seen.peak_of_retries() == retry_storm::clients);
    CHECK(seen.peak_of_retries() > 5 * seen.mean_of_retries());
}

TEST_CASE("storm_with_either_alone_lacks_what_the_other_gives") {
    // One after the other: each begins at the present.
    const auto spread = retry_storm({.jitter = true, .budget = false}).run();
    const auto few = retry_storm({.jitter = false, .budget = true}).run();
    const auto best = retry_storm({.jitter = true, .budget = true}).run();
    CHECK(spread.peak_of_retries() < retry_storm::clients / 4); // no lockstep
    CHECK(spread.all_retries() > 2 * best.all_retries());       // but a multiple of the load
    CHECK(few.peak_of_retries() > 3 * few.mean_of_retries());   // few, but together
}

TEST_CASE("storm_same_seed_same_trace") {
    const auto trace = [](std::uint64_t seed) { return retry_storm({.jitter = true, .budget = true}, seed).run(); };
    const auto seen = trace(5);
    CHECK(seen == trace(5));
    CHECK_FALSE(seen == trace(6));
}
