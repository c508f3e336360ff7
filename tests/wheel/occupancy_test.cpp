// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The bitmap finds what a loop over the slots finds, from everywhere, round the end and for every limit.
#include "support/random.hpp"

#include <cogwheel/wheel/detail/slot_ring.hpp>

#include <doctest/doctest.h>

using cogwheel::detail::occupancy;

namespace {

std::size_t distance_by_looking(const occupancy& bits, std::size_t slots, std::size_t from, std::size_t limit) {
    for (std::size_t d = 0; d < limit; ++d)
        if (bits.test((from + d) % slots)) return d;
    return limit;
}

} // namespace

TEST_CASE("occupancy_distance_empty_is_the_limit") {
    for (const std::size_t slots : {1U, 2U, 64U, 128U, 512U}) {
        const occupancy bits(slots);
        for (std::size_t from = 0; from < slots; ++from) CHECK(bits.distance(from, slots) == slots);
        CHECK(bits.distance(0, 0) == 0);
    }
}

TEST_CASE("occupancy_distance_one_slot_is_found_from_everywhere") {
    for (const std::size_t slots : {1U, 2U, 4U, 32U, 64U, 128U, 256U}) {
        for (std::size_t slot = 0; slot < slots; ++slot) {
            occupancy bits(slots);
            bits.set(slot);
            bool right = true;
            for (std::size_t from = 0; from < slots; ++from)
                right &= bits.distance(from, slots) == (slot + slots - from) % slots;
            CHECK(right);
            bits.reset(slot);
            CHECK(bits.distance(0, slots) == slots);
        }
    }
}

TEST_CASE("occupancy_distance_random_is_what_a_loop_finds") {
    cogwheel_tests::random_source random(1);
    for (const std::size_t slots : {1U, 4U, 16U, 64U, 128U, 512U}) {
        occupancy bits(slots);
        bool right = true;
        for (int i = 0; i < 3000; ++i) {
            const std::size_t slot = random.below(slots);
            random.below(3) == 0 ? bits.set(slot) : bits.reset(slot);
            const std::size_t from = random.below(slots), limit = random.below(slots + 1);
            right &= bits.distance(from, limit) == distance_by_looking(bits, slots, from, limit);
        }
        CAPTURE(slots);
        CHECK(right);
        bits.clear();
        CHECK(bits.distance(slots - 1, slots) == slots);
    }
}
