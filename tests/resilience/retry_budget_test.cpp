// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The budget's promise: never more retries than capacity + ratio x first attempts + rate x time, and no fewer than that
// where they are asked for.
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/threads.hpp"

#include <cogwheel/resilience/retry_budget.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using cogwheel::retry_budget;
using cogwheel::retry_budget_options;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using time_point = std::chrono::steady_clock::time_point;

namespace {

constexpr time_point t0 = time_point(1h);

int drain(retry_budget& budget, time_point now) {
    int n = 0;
    while (budget.withdraw(now)) ++n;
    return n;
}

std::string refusal(const retry_budget_options& options) {
    return refusal_of([&] { retry_budget budget(options); });
}

} // namespace

TEST_CASE("budget_starts_full") {
    retry_budget budget({.ratio = 0, .min_per_second = 0, .capacity = 7});
    CHECK(budget.balance(t0) == 7);
    CHECK(drain(budget, t0) == 7);
    CHECK(drain(budget, t0 + 1000h) == 0);
}

TEST_CASE("budget_by_default_takes_100_at_once_10_a_second_and_one_of_five") {
    retry_budget budget;
    CHECK(drain(budget, t0) == 100);
    CHECK(drain(budget, t0 + 1001ms) == 10);
    for (int i = 0; i < 50; ++i) budget.deposit();
    CHECK(drain(budget, t0 + 1001ms) == 10);
    CHECK(drain(budget, t0 + 1h) == 100);
}

TEST_CASE("budget_deposits_add_their_ratio_up_to_the_capacity") {
    retry_budget budget({.ratio = 0.25, .min_per_second = 0, .capacity = 3});
    drain(budget, t0);
    for (int i = 0; i < 3; ++i) budget.deposit();
    CHECK_FALSE(budget.withdraw(t0)); // three quarters
    budget.deposit();
    CHECK(drain(budget, t0) == 1);
    for (int i = 0; i < 100; ++i) budget.deposit();
    CHECK(budget.balance(t0) == 3);
    CHECK(drain(budget, t0) == 3);
}

TEST_CASE("budget_ratio_above_one_pays_several") {
    retry_budget budget({.ratio = 2.5, .min_per_second = 0, .capacity = 10});
    drain(budget, t0);
    budget.deposit();
    budget.deposit();
    CHECK(drain(budget, t0) == 5);
}

TEST_CASE("budget_minimum_rate_pays_by_time_up_to_the_capacity") {
    retry_budget budget({.ratio = 0, .min_per_second = 10, .capacity = 20});
    CHECK(drain(budget, t0) == 20);
    CHECK(drain(budget, t0 + 99ms) == 0);
    CHECK(drain(budget, t0 + 101ms) == 1);
    CHECK(drain(budget, t0 + 1101ms) == 10);
    CHECK(drain(budget, t0 + 1h) == 20);
}

TEST_CASE("budget_many_small_steps_earn_what_one_long_one_does") {
    // A part of a token is earned every 95 ns: most steps are a little more than that.
    for (const auto step : {13ns, 101ns, 150ns, 1009ns, 1'000'003ns}) {
        CAPTURE(step.count());
        retry_budget budget({.ratio = 0, .min_per_second = 10, .capacity = 1000});
        drain(budget, t0);
        const int steps = 30000;
        for (int i = 1; i < steps; ++i) budget.balance(t0 + i * step);
        const double due = std::chrono::duration<double>(steps * step).count() * 10;
        CHECK(budget.balance(t0 + steps * step) <= due);
        CHECK(budget.balance(t0 + steps * step) >= due * 0.98);
    }
}

TEST_CASE("budget_clock_turned_back_waits_until_it_has_caught_up") {
    retry_budget budget({.ratio = 0, .min_per_second = 10, .capacity = 5});
    drain(budget, t0);
    CHECK(drain(budget, t0 - 1h) == 0);
    CHECK(drain(budget, t0) == 0);
    CHECK(drain(budget, t0 + 101ms) == 1);
}

TEST_CASE("budget_extreme_readings_saturate") {
    retry_budget budget({.ratio = 0, .min_per_second = 1e6, .capacity = 1e6});
    CHECK(budget.withdraw(time_point::min() + 1ns));
    CHECK(budget.withdraw(time_point::max()));
    CHECK(budget.balance(time_point::max()) == 1e6 - 1);
    CHECK(budget.withdraw(time_point::min()));
    CHECK(budget.balance(time_point::max()) == 1e6 - 2);
}

TEST_CASE("budget_statistics_are_exact") {
    retry_budget budget({.ratio = 0.5, .min_per_second = 0, .capacity = 2});
    for (int i = 0; i < 3; ++i) budget.deposit();
    drain(budget, t0);
    budget.withdraw(t0);
    CHECK(budget.stats().deposits == 3);
    CHECK(budget.stats().granted == 2);
    CHECK(budget.stats().refused == 2);
}

TEST_CASE("budget_any_history_stays_within_its_bound") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        cogwheel_tests::random_source random(seed);
        const retry_budget_options options{.ratio = static_cast<double>(random.below(300)) / 100,
                                           .min_per_second = static_cast<double>(random.below(1000)),
                                           .capacity = static_cast<double>(1 + random.below(50))};
        retry_budget budget(options);
        time_point now = t0;
        double granted = 0, deposits = 0;
        for (int i = 0; i < 500; ++i) {
            switch (random.below(3)) {
            case 0:
                now += std::chrono::nanoseconds(random.below(5'000'000));
                break;
            case 1:
                budget.deposit();
                ++deposits;
                break;
            default:
                granted += budget.withdraw(now) ? 1 : 0;
            }
            const double seconds = std::chrono::duration<double>(now - t0).count();
            REQUIRE(granted <= options.capacity + options.ratio * deposits + options.min_per_second * seconds + 1e-3);
        }
    }
}

TEST_CASE("budget_threads_share_it_to_the_last_token") {
    retry_budget budget({.ratio = 0.125, .min_per_second = 0, .capacity = 1000}); // eighths add up without a rest
    drain(budget, t0);
    constexpr int threads = 4, each = 1600;
    std::atomic<int> granted{0};
    cogwheel_tests::on_threads(threads, [&](int) {
        for (int i = 0; i < each; ++i) {
            budget.deposit();
            if (budget.withdraw(t0)) ++granted;
        }
    });
    granted += drain(budget, t0);
    CHECK(granted == threads * each / 8);
    CHECK(budget.stats().deposits == threads * each);
    CHECK(budget.stats().granted == static_cast<std::uint64_t>(granted) + 1000);
}

TEST_CASE("budget_threads_that_refill_at_once_are_paid_once") {
    retry_budget budget({.ratio = 0, .min_per_second = 1000, .capacity = 50});
    drain(budget, t0);
    constexpr int threads = 4;
    std::atomic<int> granted{0};
    cogwheel_tests::on_threads(threads, [&](int) {
        for (int ms = 1; ms <= 1000; ++ms)
            if (budget.withdraw(t0 + ms * 1ms)) ++granted;
    });
    CHECK(granted <= 1000);
    CHECK(granted >= 50);
}

TEST_CASE("budget_bad_options_name_value_range_and_remedy") {
    for (const double bad : {-0.01, 100.5, std::nan(""), HUGE_VAL}) {
        CHECK(says(refusal({.ratio = bad}), "ratio is"));
        CHECK(says(refusal({.ratio = bad}), "0 .. 100; 0.1"));
    }
    for (const double bad : {-1.0, 1e6 + 1, std::nan(""), HUGE_VAL})
        CHECK(says(refusal({.min_per_second = bad}), "min_per_second is"));
    for (const double bad : {0.0, 0.99, -5.0, 1e6 + 1, std::nan("")})
        CHECK(says(refusal({.capacity = bad}), "capacity is"));
    CHECK(refusal({.ratio = 0, .min_per_second = 0, .capacity = 1}).empty());
    CHECK(refusal({.ratio = 100, .min_per_second = 1e6, .capacity = 1e6}).empty());
}
