// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An executor that cannot take a turn just now: whoever asked is told, and no wait is lost or completes twice.
#include "support/asio/discarding_executor.hpp"
#include "support/asio/failing_executor.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

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

TEST_CASE("post_fails_zero_delay_wait_completes_a_tick_later") {
    fixture f;
    bool done = false, ran = false;
    f.fail = true;
    f.wheel->async_wait(0ms, must_complete({}, &done));
    f.wheel->schedule(0ms, [&ran] { ran = true; });
    f.fail = false;
    pass(f.io, 10ms);
    CHECK(done);
    CHECK(ran);
    CHECK(counts_agree(f.wheel->stats()));
}

TEST_CASE("post_fails_emit_aborts_all_the_same") {
    fixture f;
    asio::cancellation_signal signal;
    bool done = false;
    f.wheel->async_wait(1h, asio::bind_cancellation_slot(signal.slot(), must_abort(&done)));
    f.fail = true;
    signal.emit(asio::cancellation_type::terminal);
    CHECK(f.wheel->pending() == 0);
    f.fail = false;
    run_ready(f.io);
    CHECK(done);
    CHECK(f.io.stopped());
}

TEST_CASE("post_fails_cancel_with_on_cancel_is_told_all_the_same") {
    fixture f;
    bool told = false;
    const auto token = f.wheel->schedule(1h, must_not_run(), on_cancel([&] { told = true; }));
    CHECK(static_cast<bool>(f.wheel->schedule(2h, must_not_run())));
    f.fail = true;
    CHECK(token.cancel());
    CHECK_FALSE(token.pending());
    f.fail = false;
    run_ready(f.io);
    CHECK(told);
    CHECK(counts_agree(f.wheel->stats()));
    CHECK(f.wheel->pending() == 1);
    CHECK(f.wheel->cancel_all() == 1);
    run_ready(f.io);
    CHECK(f.io.stopped());
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

TEST_CASE("post_fails_rejected_wait_hears_of_it_and_its_slot_names_nothing") {
    fixture f({.max_pending = 1});
    asio::cancellation_signal signal;
    bool refused = false;
    const auto full = f.wheel->schedule(1h, must_not_run());
    f.fail = true;
    f.wheel->async_wait(10ms,
                        asio::bind_cancellation_slot(signal.slot(), must_complete(errc::too_many_timers, &refused)));
    CHECK_FALSE(refused);
    f.fail = false;
    CHECK(full.cancel());
    run_ready(f.io);
    CHECK(refused);
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

// As an executor does that needs memory of its own for each handler: a strand.
TEST_CASE("post_fails_when_the_wake_comes_it_leaves_run_and_another_wake_follows") {
    fixture f;
    int fired = 0;
    for (int i = 0; i < 3; ++i) f.wheel->schedule(10ms, [&] { ++fired; });
    f.fail = true;
    for (int i = 0; i < 5; ++i) CHECK_THROWS_AS(pass(f.io, 10ms), std::bad_alloc);
    CHECK(fired == 0);
    CHECK(f.wheel->pending() == 3);
    f.fail = false;
    pass(f.io, 10ms);
    CHECK(fired == 3);
    run_ready(f.io);
    CHECK(f.io.stopped());
}

TEST_CASE("post_fails_stop_and_end_of_the_wheel_succeed_with_nothing_planned") {
    fixture f;
    bool aborted = false;
    f.wheel->async_wait(10ms, must_abort(&aborted));
    f.fail = true;
    CHECK_THROWS_AS(pass(f.io, 10ms), std::bad_alloc);
    SUBCASE("stop") {
        CHECK(f.wheel->stop() == 1);
        CHECK(f.wheel->pending() == 0);
    }
    SUBCASE("end") { f.wheel.reset(); }
    f.fail = false;
    pass(f.io, 10ms);
    CHECK(aborted);
}

TEST_CASE("turn_destroyed_uncalled_another_follows") {
    discarding_executor::kind discard = discarding_executor::nothing;
    bool done = false;
    asio::io_context io;
    manual_timer_wheel wheel(asio::any_io_executor(discarding_executor(io, discard)));
    wheel.async_wait(0ms, must_complete({}, &done));
    discard = discarding_executor::when_its_time_comes;
    for (int i = 0; i < 3; ++i) CHECK(io.poll_one() == 1);
    CHECK_FALSE(done);
    discard = discarding_executor::nothing;
    run_ready(io);
    CHECK(done);
}

TEST_CASE("turn_destroyed_while_it_is_posted_another_follows_at_the_next_tick") {
    discarding_executor::kind discard = discarding_executor::nothing;
    asio::io_context io;
    manual_timer_wheel wheel(asio::any_io_executor(discarding_executor(io, discard)));
    SUBCASE("at once") { discard = discarding_executor::at_once; }
    SUBCASE("on another thread") { discard = discarding_executor::at_once_on_another_thread; }
    SUBCASE("at once, with a wait planned") {
        wheel.schedule(1h, must_not_run());
        discard = discarding_executor::at_once;
    }
    for (int round = 0; round < 2; ++round) {
        bool done = false;
        const auto how = discard;
        wheel.async_wait(0ms, must_complete({}, &done));
        discard = discarding_executor::nothing;
        pass(io, 10ms);
        CHECK(done);
        discard = how;
    }
}
