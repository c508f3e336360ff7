// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http/rate_limit.hpp"

#include <doctest/doctest.h>

#include <string>

using cogwheeld::rate_limit;
using namespace std::chrono_literals;

namespace {

const auto here = asio::ip::make_address("192.0.2.1");
const rate_limit::clock::time_point start{1000s};

} // namespace

TEST_CASE("rate_limit_allows_a_burst_and_then_the_rate") {
    rate_limit limit({.rate = 10, .burst = 5});
    for (int i = 0; i < 5; ++i) CHECK(limit.take(here, start) == 0);
    CHECK(limit.take(here, start) == 1);
    CHECK(limit.take(here, start + 99ms) == 1);
    CHECK(limit.take(here, start + 100ms) == 0);
    CHECK(limit.take(here, start + 100ms) == 1);
    int allowed = 0;
    for (int i = 0; i < 1'000; ++i) allowed += limit.take(here, start + 1s + i * 10ms) == 0 ? 1 : 0;
    CHECK(allowed >= 100); // of ten seconds
    CHECK(allowed <= 105); // and what was left
}

TEST_CASE("rate_limit_says_in_seconds_when_the_next_request_may_come") {
    rate_limit limit({.rate = 0.1, .burst = 1});
    CHECK(limit.take(here, start) == 0);
    CHECK(limit.take(here, start) == 10);
    CHECK(limit.take(here, start + 9s) == 1);
    CHECK(limit.take(here, start + 10s) == 0);
    CHECK(rate_limit({.rate = 1e-9, .burst = 0.5}).take(here, start) == 3600);
}

TEST_CASE("rate_limit_of_zero_is_none") {
    rate_limit limit({.rate = 0, .burst = 1});
    for (int i = 0; i < 1'000; ++i) CHECK(limit.take(here, start) == 0);
    CHECK(limit.addresses() == 0);
}

TEST_CASE("rate_limit_counts_each_address_alone_but_a_network_of_ipv6_together") {
    rate_limit limit({.rate = 1, .burst = 1});
    for (const char* a : {"192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"})
        CHECK(limit.take(asio::ip::make_address(a), start) == 0);
    for (const char* a : {"192.0.2.1", "::ffff:192.0.2.2", "2001:db8::ffff:2", "2001:db8:0:1:2::"})
        CHECK(limit.take(asio::ip::make_address(a), start) == 1);
}

TEST_CASE("rate_limit_bounds_its_memory_and_nobody_gets_around_it_by_many_addresses") {
    rate_limit limit({.rate = 0.001, .burst = 1});
    std::size_t allowed = 0;
    for (unsigned i = 0; i < 100'000; ++i)
        allowed += limit.take(asio::ip::make_address_v4(0x0a000000U + i), start) == 0 ? 1 : 0;
    CHECK(limit.addresses() <= rate_limit::max_addresses + 1);
    CHECK(allowed <= rate_limit::max_addresses + 1);
    // What is full again is forgotten.
    CHECK(limit.take(here, start + 2000s) == 0);
    CHECK(limit.addresses() == 1);
}
