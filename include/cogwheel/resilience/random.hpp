// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Random numbers: a reference to any generator, and a small generator for callers that pass none.
//
// The standard does not say how its distributions map bits to numbers. This library maps them itself, so the same
// random bits give the same delays on every platform.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// As std::uniform_random_bit_generator, without the large header <random>.
template <class Generator>
concept random_generator =
    std::invocable<Generator&> && std::unsigned_integral<std::invoke_result_t<Generator&>> && requires {
        { Generator::min() } -> std::same_as<std::invoke_result_t<Generator&>>;
        { Generator::max() } -> std::same_as<std::invoke_result_t<Generator&>>;
        requires std::bool_constant<(Generator::min() < Generator::max())>::value;
    };

/// Returns 64 random bits from a generator of any range.
template <random_generator Generator>
std::uint64_t random_bits(Generator& g) {
    using result = std::invoke_result_t<Generator&>;
    constexpr auto range = static_cast<std::uint64_t>(static_cast<result>(Generator::max() - Generator::min()));
    if constexpr (range == std::numeric_limits<std::uint64_t>::max()) {
        return g();
    } else {
        constexpr int bits = std::bit_width(range + 1) - 1; // random bits that one draw gives
        constexpr auto usable = std::uint64_t{1} << bits;
        std::uint64_t all = 0;
        for (int have = 0; have < 64; have += bits) {
            std::uint64_t draw{};
            do draw = static_cast<std::uint64_t>(static_cast<result>(g() - Generator::min()));
            while (draw >= usable); // repeats only if the number of values is not a power of two
            all = bits < 64 ? all << (bits & 63) | draw : draw;
        }
        return all;
    }
}

/// Maps 64 random bits to 0 .. last: the high word of bits x (last + 1), as in Lemire (2019), but without a second
/// draw. A bias below (last + 1) / 2^64 remains; a generator that always returns one number causes no endless loop.
constexpr std::uint64_t scale_bits(std::uint64_t bits, std::uint64_t last) noexcept {
    if (last == std::numeric_limits<std::uint64_t>::max()) return bits;
    const std::uint64_t n = last + 1;
    constexpr std::uint64_t low = 0xffffffff;
    const std::uint64_t carry = (bits & low) * (n & low) >> 32;
    const std::uint64_t middle = (bits >> 32) * (n & low) + carry;
    const std::uint64_t other = (bits & low) * (n >> 32) + (middle & low);
    return (bits >> 32) * (n >> 32) + (middle >> 32) + (other >> 32);
}

/// splitmix64 (Steele, Lea, Flood 2014). Eight bytes of state; good enough to spread clients.
class small_random {
public:
    using result_type = std::uint64_t;

    explicit constexpr small_random(std::uint64_t seed = 0) noexcept : state_(seed) {}
    static constexpr result_type min() noexcept { return 0; }
    static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

    constexpr result_type operator()() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

private:
    std::uint64_t state_;
};

/// Returns a seed for an object whose user passes no generator. Objects made at the same time get different seeds if
/// their addresses differ: in one process always, in several processes usually, because the system randomises
/// addresses. On several machines, the clocks usually differ, too.
inline std::uint64_t fresh_seed(const void* object, std::chrono::nanoseconds now) noexcept {
    return static_cast<std::uint64_t>(now.count()) * 0x9e3779b97f4a7c15 + reinterpret_cast<std::uintptr_t>(object);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Refers to a generator of any type, and is a uniform_random_bit_generator itself.
/// Thread safety: the generator's. A generator that several threads use needs a lock of its own.
/// Lifetime: the generator must outlive the reference.
/// Example:
///
///     std::mt19937_64 generator(42);
///     cogwheel::retry_policy policy{.random = generator}; // the same jitter in each run of a test
class random_ref {
public:
    using result_type = std::uint64_t;

    /// Makes an empty reference, which must not be called.
    constexpr random_ref() noexcept = default;

    template <detail::random_generator Generator>
        requires(!std::same_as<std::remove_cv_t<Generator>, random_ref>)
    random_ref(Generator& g) noexcept // implicit, like std::function_ref
        : generator_(std::addressof(g)),
          draw_([](void* p) { return detail::random_bits(*static_cast<Generator*>(p)); }) {}

    static constexpr result_type min() noexcept { return 0; }
    static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

    result_type operator()() const { return draw_(generator_); }
    explicit constexpr operator bool() const noexcept { return generator_ != nullptr; }

private:
    void* generator_ = nullptr;
    result_type (*draw_)(void*) = nullptr;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
