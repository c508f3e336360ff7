// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How retries end, counted for all that share one retry_counts.
#include "support/resilience/retry_rig.hpp"

#include <cogwheel/resilience/retry_counts.hpp>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {
std::uint64_t count_of_end(const retry_counts& counts, retry_end end) {
    return counts.stats().ends[static_cast<std::size_t>(end)];
}
} // namespace

TEST_CASE("retry_counts_each_end_once_with_its_attempts") {
    using Wheel = testing::manual_timer_wheel;
    retry_counts counts;
    virtual_policy policy = doubling(2);
    policy.counts = &counts;
    {
        retry_rig<Wheel> r;
        retry_outcome out;
        r.start(policy, out.handler());
        r.attempt_ends({});
        CHECK(count_of_end(counts, retry_end::succeeded) == 1);
        CHECK(counts.stats().attempts == 1);
    }
    {
        retry_rig<Wheel> r;
        retry_outcome out;
        r.start(policy, out.handler());
        r.attempt_fails();
        CHECK(counts.stats().attempts == 1); // it has not ended yet
        r.pass(100ms);
        r.attempt_fails();
        CHECK(count_of_end(counts, retry_end::attempts_used) == 1);
        CHECK(counts.stats().attempts == 3);
    }
    {
        retry_rig<Wheel> r;
        retry_outcome out;
        policy.deadline = virtual_deadline(manual_clock::now() - 1s);
        r.start(policy, out.handler());
        r.run();
        CHECK(count_of_end(counts, retry_end::out_of_time) == 1);
        CHECK(counts.stats().attempts == 3); // none was made
    }
    std::uint64_t all = 0;
    for (const std::uint64_t n : counts.stats().ends) all += n;
    CHECK(all == 3);
}
