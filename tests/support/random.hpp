// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A generator whose sequence is the same on every platform, so that a printed seed is worth something.
#pragma once

#include <concepts>
#include <cstdint>

namespace cogwheel_tests {

/// splitmix64 (Steele, Lea, Flood 2014).
class random_source {
public:
    explicit constexpr random_source(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// 0 .. bound - 1, of the type of the bound if that is unsigned.
    constexpr std::uint64_t below(std::uint64_t bound) { return (*this)() % bound; }
    template <std::unsigned_integral T>
    constexpr T below(T bound) {
        return static_cast<T>((*this)() % bound);
    }

private:
    std::uint64_t state_;
};

} // namespace cogwheel_tests
