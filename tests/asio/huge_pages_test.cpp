// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// wheel_options::huge_pages reaches the tables. The only file of this program that asks for huge pages.
#include "support/asio/virtual_wheel.hpp"
#include "support/wheel/huge_pages.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("huge_pages_are_asked_for_by_the_option") {
    virtual_wheel w({.huge_pages = true});
    int fired = 0;
    for (int i = 0; i < 10'000; ++i) w.wheel.schedule(1s, [&] { ++fired; });
    CHECK(huge_pages_asked_for().value_or(true));
    w.pass(2s);
    CHECK(fired == 10'000);
    CHECK(w.wheel.trim());
    for (int i = 0; i < 10'000; ++i) w.wheel.schedule(1s, [&] { ++fired; });
    w.pass(2s);
    CHECK(fired == 20'000);
}
