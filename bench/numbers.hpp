// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which timers an operation is done on: sequences that are made beforehand, and are the same for every contender, in
// whatever language it is written (splitmix64; Fisher and Yates).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace bench {

using numbers = std::vector<std::uint32_t>;

/// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class splitmix64 {
public:
    explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t operator()() noexcept {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
    std::uint32_t below(std::uint64_t limit) noexcept { return static_cast<std::uint32_t>((*this)() % limit); }

private:
    std::uint64_t state_;
};

inline numbers random_numbers(std::size_t count, std::size_t below, std::uint64_t seed) {
    splitmix64 random(seed);
    numbers list(count);
    for (std::uint32_t& n : list) n = random.below(below);
    return list;
}

inline numbers numbers_in_order(std::size_t count) {
    numbers list(count);
    std::iota(list.begin(), list.end(), 0U);
    return list;
}

inline numbers random_order(std::size_t count, std::uint64_t seed) {
    splitmix64 random(seed);
    numbers list = numbers_in_order(count);
    for (std::size_t i = count; i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
    return list;
}

} // namespace bench
