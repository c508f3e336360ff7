// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The window of a circuit breaker counts what a list of all calls would, cut into slices.
#include "support/random.hpp"

#include <cogwheel/resilience/detail/call_window.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deque>

using cogwheel::detail::call_window;
using namespace std::chrono_literals;

TEST_CASE("window_agrees_with_a_list_of_calls_cut_into_slices") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        cogwheel_tests::random_source random(seed);
        call_window window(10s);
        struct one {
            std::int64_t slice;
            bool failed;
        };
        std::deque<one> list;
        std::chrono::nanoseconds now = -20s;
        for (int i = 0; i < 300; ++i) {
            now += std::chrono::milliseconds(random.below(20) == 0 ? random.below(15000) : random.below(400));
            const bool failed = random.below(2) == 0;
            const auto slice = static_cast<std::int64_t>(std::floor(std::chrono::duration<double>(now).count()));
            list.push_back({slice, failed});
            while (list.front().slice <= slice - 10) list.pop_front();
            window.record(failed, now);
            std::uint64_t failures = 0;
            for (const one& c : list) failures += c.failed ? 1 : 0;
            REQUIRE(window.calls() == list.size());
            REQUIRE(window.failures() == failures);
        }
    }
}

TEST_CASE("window_forgets_at_any_distance_from_the_epoch") {
    for (const auto length :
         {std::chrono::nanoseconds(10us), std::chrono::nanoseconds(10ms), std::chrono::nanoseconds(1h)})
        for (const auto begin :
             {std::chrono::nanoseconds::min(), -length / 2, 0ns, std::chrono::nanoseconds::max() - 4 * length}) {
            CAPTURE(length.count());
            CAPTURE(begin.count());
            call_window window(length);
            window.record(true, begin);
            window.record(false, begin + length / 2);
            CHECK(window.calls() == 2);
            CHECK(window.failures() == 1);
            window.record(false, begin + length + length / 10); // the first is out, the second is not
            CHECK(window.calls() == 2);
            CHECK(window.failures() == 0);
            window.record(true, begin + 3 * length); // all are
            CHECK(window.calls() == 1);
            CHECK(window.failures() == 1);
        }
}

TEST_CASE("window_takes_any_time_and_one_that_runs_backwards") {
    call_window window(1ms);
    for (const auto now : {std::chrono::nanoseconds::min(), 0ns, std::chrono::nanoseconds::max()}) {
        window.record(true, now);
        CHECK(window.calls() == 1);
    }
    window.record(false, 0ns);
    CHECK(window.calls() == 2);
    CHECK(window.failures() == 1);
}
