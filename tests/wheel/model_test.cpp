// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel does what the std::multimap does: random scripts, every outcome compared, on wheels of 1, 4, 8 and 512 slots.
#include "support/script_tools.hpp"
#include "support/wheel_rig.hpp"

#include <cogwheel/wheel/hashed_wheel.hpp>

#include <doctest/doctest.h>

using namespace cogwheel_tests;

namespace {

// Operations done, over all cases of this file. Sanitizers slow them down tenfold: a quarter is done there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t share = 4;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::size_t share = 4;
#else
constexpr std::size_t share = 1;
#endif
#else
constexpr std::size_t share = 1;
#endif
constexpr std::size_t promised = 1'000'000 / share;

std::size_t run_random(std::uint64_t first_seed, std::size_t scripts, std::size_t slots, std::size_t timers,
                       std::size_t operations) {
    const script_runner run = run_script<cogwheel::hashed_wheel>;
    for (std::uint64_t seed = first_seed; seed < first_seed + scripts; ++seed) {
        CAPTURE(seed);
        CAPTURE(slots);
        CAPTURE(timers);
        const script_bytes script = random_script(seed, slots, timers, operations);
        const std::string fault = run(script);
        if (fault.empty()) continue;
        const script_bytes small = shrink(script, run);
        FAIL("seed " << seed << ": " << fault << "\nshrunken: " << run(small) << "\n" << describe(small));
    }
    return scripts * operations;
}

} // namespace

TEST_CASE("model_random_scripts_do_what_the_reference_does") {
    std::size_t operations = 0;
    operations += run_random(1, 2000 / share, 4, 6, 200);
    operations += run_random(2'000, 2000 / share, 4, 16, 200);
    operations += run_random(4'000, 600 / share, 4, 64, 500);
    operations += run_random(6'000, 500 / share, 8, 64, 300);
    operations += run_random(8'000, 600 / share, 1, 16, 200);
    operations += run_random(10'000, 300 / share, 512, 64, 500);
    operations += run_random(12'000, 10 / share, 4, 4000, 3'000);
    operations += run_random(14'000, 10 / share, 512, 4000, 3'000);
    MESSAGE("random operations compared: " << operations);
    CHECK(operations >= promised);
}
