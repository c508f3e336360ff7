// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel type of the user's, under the whole binding.
#include "support/asio/ordered_wheel.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using own_timer_wheel = basic_timer_wheel<manual_clock, multi_threaded, ordered_wheel>;
using own_wheel_timer = basic_wheel_timer<basic_timer_wheel<manual_clock, multi_threaded, ordered_wheel>>;

} // namespace

TEST_CASE("own_wheel_waits_and_callables_in_order_of_their_expiry") {
    asio::io_context io;
    own_timer_wheel wheel{io};
    std::string seen;
    wheel.schedule(30ms, [&] { seen += 'c'; });
    wheel.async_wait(20ms, [&](std::error_code ec) { seen += ec ? '!' : 'b'; });
    const auto token = wheel.schedule(40ms, [&] { seen += 'a'; });
    CHECK(token.reschedule(10ms));
    CHECK(wheel.schedule(5ms, [&] { seen += '?'; }).cancel());
    pass(io, 10ms);
    CHECK(seen == "a");
    pass(io, 20ms);
    CHECK(seen == "abc");
    CHECK(wheel.pending() == 0);
    CHECK(counts_agree(wheel.stats()));
}

TEST_CASE("own_wheel_rearmed_with_zero_waits_for_the_next_turn") {
    asio::io_context io;
    own_timer_wheel wheel{io, {.work_per_turn = 4}};
    int rounds = 0;
    const std::function<void()> again = [&] {
        if (++rounds != 10) wheel.schedule(0s, again);
    };
    wheel.schedule(0s, again);
    CHECK(run_ready(io) == 10); // a turn each
    CHECK(rounds == 10);
}

TEST_CASE("own_wheel_timer_moved_with_a_wait_pending_fires_in_its_new_place") {
    asio::io_context io;
    own_timer_wheel wheel{io};
    std::optional<own_wheel_timer> first(std::in_place, wheel, 20ms);
    bool done = false;
    first->async_wait([&](std::error_code ec) { done = !ec; });
    own_wheel_timer second = std::move(*first);
    first.reset();
    pass(io, 20ms);
    CHECK(done);
    CHECK(wheel.trim());
}

TEST_CASE("own_wheel_stopped_aborts_what_is_pending") {
    asio::io_context io;
    own_timer_wheel wheel{io};
    own_wheel_timer timer{wheel, 1h};
    std::vector<std::error_code> ends;
    const auto note = [&](std::error_code ec) { ends.push_back(ec); };
    wheel.async_wait(1h, note);
    timer.async_wait(note);
    CHECK(wheel.stop() == 2);
    wheel.async_wait(1h, note);
    run_ready(io);
    const std::error_code aborted = asio::error::operation_aborted;
    CHECK(ends == std::vector<std::error_code>{aborted, aborted, errc::stopped});
}
