// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The server's time as this process estimates it, and which worker owns a shard.
#include "src/durable/server_clock.hpp"
#include "src/durable/shard_owner.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

using namespace std::chrono_literals;
using cogwheel::detail::server_clock;
using cogwheel::detail::shard_owner;

namespace {

using steady_at = server_clock::steady_point;
constexpr std::int64_t server_begin = 1'700'000'000'000'000; // us, when the steady clock is zero

} // namespace

TEST_CASE("server_clock_with_one_sample_is_wrong_by_half_a_round_trip_at_most") {
    server_clock clock;
    CHECK(!clock.known());
    clock.observe(steady_at(1'000us), steady_at(1'400us), server_begin + 1'100);
    REQUIRE(clock.known());
    const std::int64_t error = clock.now_us(steady_at(10s)) - (server_begin + 10'000'000);
    CHECK(std::abs(error) <= 200);
    CHECK(clock.now_us(clock.point(server_begin + 99)) == server_begin + 99);
}

TEST_CASE("server_clock_takes_the_sample_with_the_shortest_round_trip") {
    cogwheel_tests::random_source random(7);
    server_clock clock;
    std::int64_t best = 1'000'000;
    for (int i = 1; i < 30; ++i) {
        const auto out = static_cast<std::int64_t>(random.below(2'000)),
                   back = static_cast<std::int64_t>(random.below(2'000));
        const std::int64_t sent = i * 10'000;
        clock.observe(steady_at(std::chrono::microseconds(sent)),
                      steady_at(std::chrono::microseconds(sent + out + back)), server_begin + sent + out);
        best = std::min(best, out + back);
        const std::int64_t error = clock.now_us(steady_at(1s)) - (server_begin + 1'000'000);
        CHECK(std::abs(error) <= best / 2 + 1);
    }
}

TEST_CASE("server_clock_follows_a_server_whose_clock_was_set") {
    server_clock clock;
    for (int i = 0; i < 10; ++i)
        clock.observe(steady_at(i * 1s), steady_at(i * 1s + 100us), server_begin + i * 1'000'000 + 50);
    for (const std::int64_t step : {std::int64_t{-3'600'000'000}, std::int64_t{5'000}, std::int64_t{3'600'000'000}}) {
        clock.observe(steady_at(20s), steady_at(20s + 400us), server_begin + 20'000'200 + step);
        CHECK(clock.now_us(steady_at(30s)) == server_begin + 30'000'000 + step);
        clock.observe(steady_at(21s), steady_at(21s + 400us), server_begin + 21'000'200); // and back
        CHECK(clock.now_us(steady_at(30s)) == server_begin + 30'000'000);
    }
}

TEST_CASE("server_clock_follows_a_slow_drift") {
    server_clock clock;
    for (std::int64_t i = 0; i < 1'000; ++i) { // 50 us a second: 50 ppm
        const std::int64_t sent = i * 1'000'000;
        clock.observe(steady_at(std::chrono::microseconds(sent)), steady_at(std::chrono::microseconds(sent + 100)),
                      server_begin + sent + 50 + 50 * i);
    }
    const std::int64_t error = clock.now_us(steady_at(999s)) - (server_begin + 999'000'000 + 50 * 999);
    CHECK(std::abs(error) <= 50 * 8);
}

TEST_CASE("server_clock_question_arrives_at_its_time_and_not_before_if_the_ways_differ") {
    cogwheel_tests::random_source random(8);
    server_clock clock;
    const auto ask = [&](std::int64_t sent, std::int64_t out, std::int64_t back) {
        clock.observe(steady_at(std::chrono::microseconds(sent)),
                      steady_at(std::chrono::microseconds(sent + out + back)), server_begin + sent + out);
    };
    for (int i = 0; i < 100; ++i) // at least 40 us there, and ten times that back
        ask(i * 1'000, 40 + static_cast<std::int64_t>(random.below(100)),
            400 + static_cast<std::int64_t>(random.below(500)));
    ask(100'000, 40, 5'000); // its way back does not matter
    const auto sent = clock.point_to_ask(server_begin + 1'000'000);
    CHECK(sent == steady_at(std::chrono::microseconds(1'000'000 - 40)));
}

TEST_CASE("server_clock_a_busy_moment_of_the_server_does_not_spoil_the_estimate") {
    server_clock clock;
    std::int64_t sent = 0;
    const auto ask = [&](std::int64_t out) {
        sent += 100;
        clock.observe(steady_at(std::chrono::microseconds(sent)), steady_at(std::chrono::microseconds(sent + out + 50)),
                      server_begin + sent + out);
    };
    for (int i = 0; i < 10; ++i) ask(50);
    for (int i = 0; i < 1'000; ++i) ask(400); // for 100 ms all commands wait
    CHECK(clock.now_us(steady_at(1s)) == server_begin + 1'000'000);
    CHECK(clock.point_to_ask(server_begin + 1'000'000) == steady_at(1s - 50us));
}

TEST_CASE("server_clock_with_a_point_far_away_does_not_overflow") {
    server_clock clock;
    clock.observe(steady_at(0s), steady_at(0s), server_begin);
    CHECK(clock.point(std::int64_t{1} << 53) > steady_at(1'000h));
    CHECK(clock.point(1) < steady_at(-1'000h));
    CHECK(clock.point_to_ask(std::int64_t{1} << 53) > steady_at(1'000h));
}

TEST_CASE("shard_owner_is_the_same_for_all_and_moves_only_the_share_of_who_left") {
    std::vector<std::string> workers;
    for (int i = 0; i < 8; ++i) workers.push_back("host:" + std::to_string(i));
    constexpr std::uint32_t shards = 1'024;
    std::map<std::string, int> share;
    std::vector<std::string> before;
    for (std::uint32_t s = 0; s < shards; ++s) {
        before.emplace_back(shard_owner(s, workers));
        ++share[before.back()];
    }
    CHECK(share.size() == workers.size());
    for (const auto& [worker, n] : share) {
        CHECK(n > 128 / 2);
        CHECK(n < 128 * 2);
    }
    const std::string gone = workers[3];
    workers.erase(workers.begin() + 3);
    for (std::uint32_t s = 0; s < shards; ++s)
        if (before[s] != gone) CHECK(shard_owner(s, workers) == before[s]);
    CHECK(shard_owner(0, {}).empty());
}
