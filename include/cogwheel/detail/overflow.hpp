// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Sums, differences and products of 64 bits. Each function returns true on overflow, and sets the low 64 bits.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <cstdint>
#include <limits>

namespace cogwheel::COGWHEEL_ABI::detail {

/// For compilers without such built-in functions.
namespace portable {

constexpr bool add_overflow(std::int64_t a, std::int64_t b, std::int64_t& sum) noexcept {
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    return b < 0 ? sum >= a : sum < a;
}
constexpr bool sub_overflow(std::int64_t a, std::int64_t b, std::int64_t& difference) noexcept {
    difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    return b < 0 ? difference <= a : difference > a;
}
constexpr bool mul_overflow(std::int64_t a, std::int64_t b, std::int64_t& product) noexcept {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    product = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    if (a == 0 || b == 0) return false;
    if ((a == -1 && b == least) || (b == -1 && a == least)) return true;
    return product / b != a;
}

} // namespace portable

#if COGWHEEL_GNU
COGWHEEL_ALWAYS_INLINE constexpr bool add_overflow(std::int64_t a, std::int64_t b, std::int64_t& sum) noexcept {
    return __builtin_add_overflow(a, b, &sum);
}
COGWHEEL_ALWAYS_INLINE constexpr bool sub_overflow(std::int64_t a, std::int64_t b, std::int64_t& difference) noexcept {
    return __builtin_sub_overflow(a, b, &difference);
}
COGWHEEL_ALWAYS_INLINE constexpr bool mul_overflow(std::int64_t a, std::int64_t b, std::int64_t& product) noexcept {
    return __builtin_mul_overflow(a, b, &product);
}
#else
using portable::add_overflow, portable::mul_overflow, portable::sub_overflow;
#endif

} // namespace cogwheel::COGWHEEL_ABI::detail
