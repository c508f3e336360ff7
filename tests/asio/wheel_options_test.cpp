// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Bad options are refused with a sentence that names the value, the range and the remedy.
#include "support/asio/virtual_wheel.hpp"
#include "support/constant_names.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

void check_refused(const wheel_options& options, std::initializer_list<const char*> said) {
    asio::io_context io;
    try {
        const manual_timer_wheel wheel(io, options);
        FAIL_CHECK("accepted");
    } catch (const std::invalid_argument& e) {
        const std::string what = e.what();
        CAPTURE(what);
        CHECK(what.find("cogwheel") != std::string::npos);
        for (const char* part : said) {
            CAPTURE(part);
            CHECK(what.find(part) != std::string::npos);
        }
    }
}

} // namespace

TEST_CASE("options_left_out_are_those_of_most_servers") {
    const wheel_options options;
    CHECK(options.tick == 10ms);
    CHECK(options.slots == 512);
    CHECK(options.levels.empty());
    CHECK(options.max_pending == ~std::size_t{0});
    CHECK(options.work_per_turn == 1024);
    CHECK(options.reserve == 0);
    CHECK_FALSE(options.huge_pages);
}

TEST_CASE("options_tick_not_positive_refused") {
    check_refused({.tick = 0ns}, {"tick", "0 ns", "above zero", "10ms"});
    check_refused({.tick = -3ns}, {"tick", "-3 ns", "above zero"});
    check_refused({.tick = std::chrono::nanoseconds::min()}, {"tick", "-9223372036854775808 ns"});
}

TEST_CASE("options_slots_out_of_range_refused") {
    check_refused({.slots = 0}, {"slots", "0", "1 .. 65536", "512"});
    check_refused({.slots = 65'537}, {"slots", "65537", "1 .. 65536"});
    check_refused({.slots = ~std::size_t{0}}, {"slots", std::to_string(~std::size_t{0}).c_str()});
}

TEST_CASE("options_tick_times_slots_too_long_refused") {
    check_refused({.tick = std::chrono::nanoseconds::max(), .slots = 2},
                  {"tick x slots", "x 2", "292 years", "shorter"});
    check_refused({.tick = 24h * 365, .slots = 512}, {"tick x slots"});
    check_refused({.tick = std::chrono::nanoseconds::max() / 3, .slots = 3}, {"tick x slots", "x 4"}); // rounded up
}

TEST_CASE("options_limits_that_make_no_sense_refused") {
    check_refused({.max_pending = 0}, {"max_pending", "0", "at least 1", "no limit"});
    check_refused({.work_per_turn = 0}, {"work_per_turn", "0", "at least 1", "1024"});
    check_refused({.max_pending = 10, .reserve = 11}, {"reserve", "11", "max_pending", "10"});
}

TEST_CASE("options_reserve_beyond_what_a_wheel_can_hold_refused") {
    if constexpr (sizeof(std::size_t) > 4) {
        check_refused({.reserve = ~std::size_t{0}}, {"reserve", "18446744073709551615", "4294967295"});
        check_refused({.reserve = static_cast<std::size_t>(std::uint64_t{1} << 32)}, {"reserve", "4294967296"});
    }
}

TEST_CASE("options_at_the_edges_accepted_and_work") {
    for (const wheel_options& options :
         {wheel_options{.tick = 1ns, .slots = 1}, wheel_options{.tick = 1ns, .slots = 65'536},
          wheel_options{.tick = 24h, .slots = 3}, wheel_options{.tick = std::chrono::nanoseconds::max(), .slots = 1},
          wheel_options{.max_pending = 1, .work_per_turn = 1, .reserve = 1},
          wheel_options{.work_per_turn = ~std::uint32_t{0}}, wheel_options{.reserve = 10'000}}) {
        virtual_wheel w(options);
        int runs = 0;
        w.wheel.schedule(0ms, [&] { ++runs; });
        w.run();
        CHECK(runs == 1);
        if (options.tick > 24h) continue; // the clock is everyone's: leave it some room
        w.wheel.schedule(1ns, [&] { ++runs; });
        w.pass(options.tick);
        CHECK(runs == 2);
    }
}

TEST_CASE("options_refused_wheels_cost_nothing") {
    asio::io_context io;
    for (int i = 0; i < 10; ++i) CHECK_THROWS_AS(manual_timer_wheel(io, {.slots = 0}), std::invalid_argument);
    manual_timer_wheel wheel(io);
    int runs = 0;
    wheel.schedule(10ms, [&] { ++runs; });
    pass(io, 10ms);
    CHECK(runs == 1);
}

TEST_CASE("tick_clock_kind_has_names") {
    check_names<tick_clock_kind>({{tick_clock_kind::automatic, "automatic"},
                                  {tick_clock_kind::counter, "counter"},
                                  {tick_clock_kind::system, "system"}});
}
