// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Random scripts by the thousand, on one kind of wheel; the first that goes wrong is shrunken and printed.
#pragma once

#include "support/wheel/script_tools.hpp"
#include "support/wheel/wheel_rig.hpp"

#include <doctest/doctest.h>

namespace cogwheel_tests {

// What there is to do, divided by this. Sanitizers slow it down tenfold: a quarter is done there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t share = 4;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr std::size_t share = 4;
#else
inline constexpr std::size_t share = 1;
#endif
#else
inline constexpr std::size_t share = 1;
#endif

/// Returns the number of operations compared.
template <class Wheel>
std::size_t run_random(std::uint64_t first_seed, std::size_t scripts, std::size_t slots, std::size_t timers,
                       std::size_t operations) {
    const script_runner run = run_script<Wheel>;
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

/// More than a million operations on wheels of 1, 4, 8 and 512 slots: small scripts by the thousand, and some with
/// thousands of timers.
template <class Wheel>
void compare_with_reference() {
    std::size_t operations = 0;
    in_jumps = {};
    operations += run_random<Wheel>(1, 2000 / share, 4, 6, 200);
    operations += run_random<Wheel>(2'000, 2000 / share, 4, 16, 200);
    operations += run_random<Wheel>(4'000, 600 / share, 4, 64, 500);
    operations += run_random<Wheel>(6'000, 500 / share, 8, 64, 300);
    operations += run_random<Wheel>(8'000, 600 / share, 1, 16, 200);
    operations += run_random<Wheel>(10'000, 300 / share, 512, 64, 500);
    operations += run_random<Wheel>(12'000, 10 / share, 4, 4000, 3'000);
    operations += run_random<Wheel>(14'000, 10 / share, 512, 4000, 3'000);
    MESSAGE("random operations compared: " << operations);
    CHECK(in_jumps.gathering >= 30'000 / share); // so that operations between the slices of a jump are tested
    CHECK(in_jumps.sorting >= 8'000 / share);
    CHECK(operations >= 1'000'000 / share);
}

} // namespace cogwheel_tests
