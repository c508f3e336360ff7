// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Jitter: each draw within its bounds, spread evenly, the same for the same seed, from any generator.
#include <cogwheel/resilience/backoff.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

using cogwheel::backoff;
using cogwheel::backoff_jitter;
using cogwheel::backoff_sequence;
using cogwheel::random_ref;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

namespace {

/// Answers one and the same.
struct stuck {
    using result_type = std::uint64_t;
    result_type answer;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()() const { return answer; }
};

/// 0, 1, 2, 0, 1, 2 ...: a range that is no power of two.
struct three_sided {
    using result_type = std::uint8_t;
    unsigned state = 0;
    static constexpr result_type min() { return 10; }
    static constexpr result_type max() { return 12; }
    result_type operator()() { return static_cast<result_type>(10 + state++ % 3); }
};

struct spread {
    nanoseconds least = nanoseconds::max();
    nanoseconds most = nanoseconds::min();
    double mean = 0;
    std::array<int, 10> tenths{}; // of [low, high]
};

constexpr int draws = 20000;

spread draw_many(const backoff& b, std::uint32_t retry, nanoseconds previous, nanoseconds low, nanoseconds high) {
    std::mt19937_64 random(7);
    spread s;
    for (int i = 0; i < draws; ++i) {
        const nanoseconds d = b.next(retry, previous, random);
        REQUIRE(d >= low);
        REQUIRE(d <= high);
        s.least = std::min(s.least, d);
        s.most = std::max(s.most, d);
        s.mean += static_cast<double>(d.count()) / draws;
        const auto tenth = static_cast<std::size_t>((d - low) * 10 / (high - low + 1ns));
        ++s.tenths[tenth];
    }
    return s;
}

void check_even(const spread& s, nanoseconds low, nanoseconds high) {
    const double middle = static_cast<double>((low + high).count()) / 2;
    const double width = static_cast<double>((high - low).count());
    CHECK(std::abs(s.mean - middle) < width / 100); // 5 standard errors
    CHECK(s.least < low + (high - low) / 1000);
    CHECK(s.most > high - (high - low) / 1000);
    for (const int n : s.tenths) {
        CHECK(n > draws / 10 - 250); // 6 standard deviations
        CHECK(n < draws / 10 + 250);
    }
}

} // namespace

TEST_CASE("jitter_full_is_even_from_zero_to_the_delay") {
    const auto b = backoff::exponential(100ms).cap(1s).jitter(backoff_jitter::full);
    check_even(draw_many(b, 1, 0ns, 0ms, 100ms), 0ms, 100ms);
    check_even(draw_many(b, 3, 50ms, 0ms, 400ms), 0ms, 400ms);
    check_even(draw_many(b, 30, 1s, 0ms, 1s), 0ms, 1s);
}

TEST_CASE("jitter_equal_is_even_over_the_upper_half") {
    const auto b = backoff::exponential(100ms).cap(1s).jitter(backoff_jitter::equal);
    check_even(draw_many(b, 1, 0ns, 50ms, 100ms), 50ms, 100ms);
    check_even(draw_many(b, 30, 1s, 500ms, 1s), 500ms, 1s);
}

TEST_CASE("jitter_decorrelated_is_even_up_to_three_times_the_one_before") {
    const auto b = backoff::exponential(100ms).cap(1s).jitter(backoff_jitter::decorrelated);
    check_even(draw_many(b, 1, 0ns, 100ms, 300ms), 100ms, 300ms);
    check_even(draw_many(b, 9, 200ms, 100ms, 600ms), 100ms, 600ms);
    check_even(draw_many(b, 2, 900ms, 100ms, 1s), 100ms, 1s);
}

TEST_CASE("jitter_both_ends_can_be_drawn_and_nothing_overflows") {
    stuck low{0};
    stuck high{~std::uint64_t{0}};
    const auto far = backoff::exponential(1s, 10);
    for (const std::uint32_t retry : {1u, 2u, 10u, 11u, 100u, ~0u}) {
        const nanoseconds d = far.without_jitter(retry);
        CHECK(far.jitter(backoff_jitter::full).next(retry, 1s, low) == 0s);
        CHECK(far.jitter(backoff_jitter::full).next(retry, 1s, high) == d);
        CHECK(far.jitter(backoff_jitter::equal).next(retry, 1s, low) == d / 2);
        CHECK(far.jitter(backoff_jitter::equal).next(retry, 1s, high) == d);
    }
    const auto loose = far.jitter(backoff_jitter::decorrelated);
    CHECK(loose.next(1, 0s, low) == 1s);
    CHECK(loose.next(1, 0s, high) == 3s);
    CHECK(loose.next(2, nanoseconds::max() / 2, high) == nanoseconds::max());
    CHECK(loose.next(2, nanoseconds::max(), high) == nanoseconds::max());
    CHECK(loose.cap(5s).next(2, 4s, high) == 5s);
    CHECK(backoff::constant(0s).jitter(backoff_jitter::full).next(1, 0s, high) == 0s);
}

TEST_CASE("jitter_same_seed_same_delays_on_every_platform") {
    // The engine's bits are the standard's, the mapping is ours: these figures must never change.
    std::mt19937_64 random(42);
    const auto b = backoff::exponential(100ms).cap(10s);
    backoff_sequence full(b.jitter(backoff_jitter::full));
    backoff_sequence equal(b.jitter(backoff_jitter::equal));
    backoff_sequence loose(b.jitter(backoff_jitter::decorrelated));
    std::vector<std::int64_t> seen;
    for (auto* s : {&full, &equal, &loose})
        for (int i = 0; i < 3; ++i) seen.push_back(s->next(random).count());
    const std::vector<std::int64_t> expected{75'515'554,  127'806'279, 300'858'081, 56'813'634, 190'326'897,
                                             218'813'662, 214'914'061, 303'127'659, 321'669'036};
    CHECK(seen == expected);
}

TEST_CASE("sequence_reset_starts_anew") {
    std::mt19937_64 random(1);
    backoff_sequence s(backoff::exponential(100ms));
    CHECK(s.retries() == 0);
    CHECK(s.next(random) == 100ms);
    CHECK(s.next(random) == 200ms);
    CHECK(s.retries() == 2);
    s.reset();
    CHECK(s.retries() == 0);
    CHECK(s.next(random) == 100ms);

    stuck high{~std::uint64_t{0}};
    backoff_sequence loose(backoff::constant(1s).jitter(backoff_jitter::decorrelated));
    CHECK(loose.next(high) == 3s);
    CHECK(loose.next(high) == 9s);
    loose.reset();
    CHECK(loose.next(high) == 3s);
}

TEST_CASE("jitter_from_any_generator_is_even") {
    const auto b = backoff::constant(1s).jitter(backoff_jitter::full);
    const auto mean_of = [&](auto generator) {
        double mean = 0;
        for (int i = 0; i < draws; ++i) mean += std::chrono::duration<double>(b.next(1, 0s, generator)).count() / draws;
        return mean;
    };
    for (const double mean : {mean_of(std::mt19937(3)), mean_of(std::minstd_rand(3)), mean_of(std::ranlux24_base(3)),
                              mean_of(cogwheel::detail::small_random(3))}) {
        CHECK(mean > 0.49);
        CHECK(mean < 0.51);
    }
    three_sided odd; // 0, 1, 0, 1 ... once the third side is left out
    CHECK(cogwheel::detail::random_bits(odd) == 0x5555555555555555);
}

TEST_CASE("random_ref_draws_from_its_generator") {
    std::mt19937_64 original(5);
    std::mt19937_64 copy(5);
    const random_ref r = original;
    CHECK(r);
    CHECK_FALSE(random_ref());
    for (int i = 0; i < 4; ++i) CHECK(r() == copy());
    const random_ref again = r; // refers to the same, not to r
    CHECK(again() == copy());
    static_assert(std::uniform_random_bit_generator<random_ref>);
}

TEST_CASE("scale_bits_is_the_high_word_of_the_product") {
    using cogwheel::detail::scale_bits;
    constexpr std::uint64_t all = ~std::uint64_t{0};
    CHECK(scale_bits(all, 0) == 0);
    CHECK(scale_bits(all, 9) == 9);
    CHECK(scale_bits(0, all) == 0);
    CHECK(scale_bits(all, all) == all);
    CHECK(scale_bits(all, all - 1) == all - 1);
    CHECK(scale_bits(std::uint64_t{1} << 63, 9) == 5);
    CHECK(scale_bits((std::uint64_t{1} << 63) - 1, 9) == 4);
    CHECK(scale_bits(0x123456789abcdef0, 0xfedcba987654320f) == 0x121fa00ad77d7422);
}

TEST_CASE("random_ref_has_the_range_of_64_bits_whatever_it_refers_to") {
    std::minstd_rand small; // 31 bits
    random_ref random = small;
    CHECK(random_ref::min() == 0);
    CHECK(random_ref::max() == ~std::uint64_t{0});
    std::uint64_t ones = 0, zeros = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t drawn = random();
        ones |= drawn;
        zeros |= ~drawn;
    }
    CHECK(ones == ~std::uint64_t{0});
    CHECK(zeros == ~std::uint64_t{0});
}

// The outputs that Steele's own program gives for this seed.
TEST_CASE("small_random_is_splitmix64") {
    cogwheel::detail::small_random random(1234567);
    for (const std::uint64_t known : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                      4593380528125082431u, 16408922859458223821u})
        CHECK(random() == known);
    CHECK(cogwheel::detail::small_random::min() == 0);
    CHECK(cogwheel::detail::small_random::max() == ~std::uint64_t{0});
}
