// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An executor that cannot take a turn just now: whoever asked is told, and no wait is lost or completes twice.
#include "support/failing_executor.hpp"
#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct fixture {
    bool fail = false;
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel;

    explicit fixture(const wheel_options& options = {}) {
        wheel.emplace(asio::any_io_executor(failing_executor(io, fail)), options);
    }
};

} // namespace

TEST_CASE("post_fails_zero_delay_wait_throws_nothing_is_pending") {
    fixture f;
    int destroyed = 0;
    f.fail = true;
    CHECK_THROWS_AS(f.wheel->async_wait(0ms, must_not_run(&destroyed)), std::bad_alloc);
    CHECK_THROWS_AS(f.wheel->schedule(0ms, must_not_run(&destroyed)), std::bad_alloc);
    CHECK(destroyed == 2);
    CHECK(f.wheel->pending() == 0);
    CHECK(counts_agree(f.wheel->stats()));
    f.fail = false;
    bool done = false;
    f.wheel->async_wait(0ms, must_complete({}, &done));
    run_ready(f.io);
    CHECK(done);
}

TEST_CASE("post_fails_emit_throws_the_wait_stays_pending") {
    fixture f;
    asio::cancellation_signal signal;
    bool done = false;
    f.wheel->async_wait(1h, asio::bind_cancellation_slot(signal.slot(), must_abort(&done)));
    f.fail = true;
    CHECK_THROWS_AS(signal.emit(asio::cancellation_type::terminal), std::bad_alloc);
    CHECK(f.wheel->pending() == 1);
    f.fail = false;
    signal.emit(asio::cancellation_type::terminal);
    run_ready(f.io);
    CHECK(done);
}

TEST_CASE("post_fails_cancel_with_on_cancel_throws_the_timer_stays_pending") {
    fixture f;
    bool told = false;
    const auto token = f.wheel->schedule(1h, must_not_run(), [&] { told = true; });
    f.fail = true;
    CHECK_THROWS_AS(token.cancel(), std::bad_alloc);
    CHECK(token.pending());
    f.fail = false;
    CHECK(token.cancel());
    run_ready(f.io);
    CHECK(told);
    CHECK(counts_agree(f.wheel->stats()));
}

TEST_CASE("post_fails_wheel_destroyed_waits_are_aborted_by_the_planned_turn") {
    fixture f;
    bool aborted = false;
    f.wheel->async_wait(10ms, must_abort(&aborted));
    f.fail = true;
    f.wheel.reset();
    f.fail = false;
    pass(f.io, 10ms);
    CHECK(aborted);
}

TEST_CASE("post_fails_rejected_wait_throws_and_its_slot_names_nothing") {
    fixture f({.max_pending = 1});
    asio::cancellation_signal signal;
    CHECK(static_cast<bool>(f.wheel->schedule(1h, must_not_run())));
    f.fail = true;
    CHECK_THROWS_AS(f.wheel->async_wait(10ms, asio::bind_cancellation_slot(signal.slot(), must_not_run())),
                    std::bad_alloc);
    f.fail = false;
    f.wheel->cancel_all();
    run_ready(f.io);
    // One of these gets the block of the rejected one.
    int runs = 0;
    const auto count = [&runs](std::error_code ec) {
        CHECK_FALSE(ec);
        ++runs;
    };
    f.wheel.emplace(asio::any_io_executor(failing_executor(f.io, f.fail)));
    for (int i = 0; i < 4; ++i)
        f.wheel->async_wait(10ms, asio::bind_cancellation_slot(asio::cancellation_slot(), count));
    signal.emit(asio::cancellation_type::terminal);
    pass(f.io, 10ms);
    CHECK(runs == 4);
}

TEST_CASE("post_fails_at_the_end_of_a_turn_the_driver_brings_the_rest") {
    fixture f({.tick = 10ms, .work_per_turn = 1});
    int fired = 0;
    for (int i = 0; i < 3; ++i) f.wheel->schedule(10ms, [&] { f.fail = ++fired == 1; });
    pass(f.io, 10ms);
    CHECK(fired == 1);
    f.fail = false;
    pass(f.io, 10ms);
    CHECK(fired == 3);
    CHECK(counts_agree(f.wheel->stats()));
}
