// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The watch of the real wall clock. Setting that clock needs a privilege (CAP_SYS_TIME): without it, the tests that do
// so say that they were left out. They set it forward by a nanosecond.
#include "support/no_descriptors.hpp"

#include <cogwheel/asio/clock_watch.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include <vector>

#include <sys/timex.h>

namespace {

bool set_the_clock() {
    timex change{};
    change.modes = ADJ_SETOFFSET | ADJ_NANO;
    change.time.tv_usec = 1; // a nanosecond
    if (clock_adjtime(CLOCK_REALTIME, &change) >= 0) return true;
    MESSAGE("left out: this process must not set the clock");
    return false;
}

struct watch_rig {
    asio::io_context io;
    cogwheel::clock_watch watch{io.get_executor()};
    std::vector<std::error_code> ended;

    void wait() {
        watch.async_wait([this](std::error_code ec) { ended.push_back(ec); });
    }
    void run() {
        io.restart();
        io.poll();
    }
};

const std::error_code watch_aborted = asio::error::operation_aborted;

} // namespace

TEST_CASE("clock_watch_tells_each_set_after_its_wait_began") {
    watch_rig w;
    w.wait();
    w.run();
    CHECK(w.ended.empty());
    if (!set_the_clock()) return;
    w.run();
    CHECK(w.ended == std::vector(1, std::error_code()));
    REQUIRE(set_the_clock()); // while nobody waits
    w.wait();
    w.run();
    CHECK(w.ended.size() == 1);
    REQUIRE(set_the_clock());
    w.run();
    CHECK(w.ended == std::vector(2, std::error_code()));
}

TEST_CASE("clock_watch_is_cancelled_by_function_slot_and_destructor") {
    watch_rig w;
    w.wait();
    w.watch.cancel();
    w.run();
    CHECK(w.ended == std::vector(1, watch_aborted));
    asio::cancellation_signal signal;
    w.watch.async_wait(asio::bind_cancellation_slot(signal.slot(), [&](std::error_code ec) { w.ended.push_back(ec); }));
    signal.emit(asio::cancellation_type::total);
    w.run();
    CHECK(w.ended == std::vector(2, watch_aborted));
    {
        cogwheel::clock_watch other(w.io.get_executor());
        other.async_wait([&](std::error_code ec) { w.ended.push_back(ec); });
    }
    w.run();
    CHECK(w.ended == std::vector(3, watch_aborted));
    w.watch.cancel(); // nobody waits
    CHECK(w.io.run() == 0);
}

TEST_CASE("clock_watch_and_its_context_end_before_a_handler_elsewhere_runs") {
    asio::io_context other;
    std::error_code ended;
    {
        asio::io_context io;
        cogwheel::clock_watch watch(io);
        watch.async_wait(asio::bind_executor(other, [&](std::error_code ec) { ended = ec; }));
        watch.cancel();
        io.run();
    }
    other.run();
    CHECK(ended == asio::error::operation_aborted);
}

TEST_CASE("clock_watch_without_a_descriptor_left_says_so") {
    asio::io_context io;
    const cogwheel::clock_watch first(io.get_executor()); // makes the reactor, which takes descriptors as well
    const std::error_code ec =
        cogwheel_tests::error_without_descriptors([&] { const cogwheel::clock_watch second(io.get_executor()); });
    CHECK(ec == std::errc::too_many_files_open);
}
