// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The callable for the case of a cancel: posted, once, and free to call back into the wheel.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <asio/bind_executor.hpp>

#include <functional>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("on_own_error_cancel_posted_once_not_inline") {
    virtual_wheel w;
    int cancelled = 0;
    const auto token = w.wheel.schedule(10ms, must_not_run(), on_cancel([&] { ++cancelled; }));
    CHECK(token.cancel());
    CHECK(cancelled == 0);
    CHECK_FALSE(token.cancel());
    CHECK_FALSE(token.pending());
    CHECK(w.wheel.pending() == 0);
    w.pass(1s);
    CHECK(cancelled == 1);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE("on_own_error_firing_does_not_run") {
    virtual_wheel w;
    int runs = 0;
    const auto token = w.wheel.schedule(10ms, [&] { ++runs; }, on_cancel(must_not_run()));
    w.pass(10ms);
    CHECK(runs == 1);
    CHECK_FALSE(token.cancel());
    w.run();
}

TEST_CASE("on_cancel_cancel_all_stop_and_the_wheels_end_run_it") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(io);
    int cancelled = 0;
    const auto schedule = [&] { wheel->schedule(10ms, must_not_run(), on_cancel([&] { ++cancelled; })); };
    SUBCASE("cancel_all") {
        schedule();
        CHECK(wheel->cancel_all() == 1);
    }
    SUBCASE("stop") {
        schedule();
        CHECK(wheel->stop() == 1);
    }
    SUBCASE("destroyed") {
        schedule();
        wheel.reset();
    }
    CHECK(cancelled == 0);
    run_ready(io);
    CHECK(cancelled == 1);
}

TEST_CASE("on_cancel_context_destroyed_is_destroyed_uninvoked") {
    int destroyed = 0;
    {
        virtual_wheel w;
        w.wheel.schedule(10ms, must_not_run(&destroyed), on_cancel(must_not_run(&destroyed)));
    }
    CHECK(destroyed == 2);
}

TEST_CASE("on_cancel_may_use_every_part_of_the_wheel") {
    virtual_wheel w;
    int cancelled = 0;
    const auto other = w.wheel.schedule(1h, must_not_run());
    const auto token = w.wheel.schedule(10ms, must_not_run(), on_cancel([&] {
                                            ++cancelled;
                                            CHECK(w.wheel.pending() == 1);
                                            CHECK(other.pending());
                                            CHECK(w.wheel.stats().cancelled == 1);
                                            w.wheel.schedule(0ms, [&] { ++cancelled; });
                                            CHECK(other.cancel());
                                            CHECK(w.wheel.cancel_all() == 1);
                                            w.wheel.schedule(0ms, [&] { cancelled += 10; });
                                            w.wheel.async_wait(0ms, must_complete());
                                        }));
    CHECK(token.cancel());
    w.run();
    CHECK(cancelled == 11);
}

TEST_CASE("on_cancel_may_destroy_the_wheel") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(io);
    bool aborted = false;
    wheel->async_wait(1h, must_abort(&aborted));
    const auto token = wheel->schedule(10ms, must_not_run(), on_cancel([&] { wheel.reset(); }));
    CHECK(token.cancel());
    run_ready(io);
    CHECK_FALSE(wheel.has_value());
    CHECK(aborted);
    CHECK_FALSE(token.pending());
}

TEST_CASE("captured_object_destroyed_by_cancel_may_use_the_wheel") {
    virtual_wheel w;
    int ends = 0;
    struct farewell {
        manual_timer_wheel* wheel;
        int* ends;
        farewell(manual_timer_wheel& to, int& n) : wheel(&to), ends(&n) {}
        farewell(farewell&& o) noexcept : wheel(std::exchange(o.wheel, nullptr)), ends(o.ends) {}
        ~farewell() {
            if (wheel == nullptr) return;
            ++*ends;
            CHECK(wheel->pending() == 1);
            const auto extra = wheel->schedule(1h, [] {});
            CHECK(wheel->pending() == 2);
            CHECK(extra.cancel());
        }
    };
    const auto stays = w.wheel.schedule(1h, [] {});
    const auto token = w.wheel.schedule(10ms, [f = farewell(w.wheel, ends)] {});
    CHECK(token.cancel());
    CHECK(ends == 1);
    w.wheel.schedule(10ms, [f = farewell(w.wheel, ends)] {});
    w.pass(10ms); // destroyed after it ran
    CHECK(ends == 2);
    CHECK(stays.pending());
}

TEST_CASE("captured_wheel_destroyed_by_cancel_ends_all_its_timers") {
    asio::io_context io;
    auto wheel = std::make_shared<manual_timer_wheel>(io);
    bool aborted = false;
    wheel->async_wait(1h, must_abort(&aborted));
    auto& w = *wheel;
    const auto token = w.schedule(1h, [keep = std::move(wheel)] { FAIL("ran"); });
    CHECK(token.cancel());
    run_ready(io);
    CHECK(aborted);
}

TEST_CASE("on_cancel_bound_to_another_context_keeps_that_one_running") {
    asio::io_context other;
    virtual_wheel w;
    bool cancelled = false;
    const auto token =
        w.wheel.schedule(10ms, must_not_run(), on_cancel(asio::bind_executor(other, [&] { cancelled = true; })));
    CHECK(run_ready(other) == 0);
    CHECK_FALSE(other.stopped()); // it has work
    CHECK(token.cancel());
    CHECK(run_ready(other) == 0);
    w.run();
    CHECK_FALSE(cancelled); // not on the wheel's context
    CHECK(run_ready(other) == 1);
    CHECK(cancelled);
    CHECK(other.stopped());
}
