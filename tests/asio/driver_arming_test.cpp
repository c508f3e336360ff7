// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often the driver is armed: every arming may be a system call, so only an earlier wake deserves one.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/scripted_driver.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/callback_timer.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/io_context.hpp>

#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

int arms() { return script::the().arms; }

std::optional<std::chrono::nanoseconds> wake_in() {
    if (!script::the().armed_for) return std::nullopt;
    return *script::the().armed_for - scripted_clock::now();
}

struct asked_wheel : hashed_wheel {
    using hashed_wheel::hashed_wheel;
    static inline int asked = 0;
    std::optional<tick> next_due() {
        ++asked;
        return hashed_wheel::next_due();
    }
};

} // namespace

TEST_CASE("arming_empty_wheel_arms_nothing") {
    asio::io_context io;
    scripted_wheel wheel(io);
    CHECK(wheel.cancel_all() == 0);
    pass_scripted(io, 1h);
    CHECK(arms() == 0);
}

TEST_CASE("arming_later_timers_cost_nothing") {
    asio::io_context io;
    scripted_wheel wheel(io);
    for (int i = 0; i < 1000; ++i) wheel.schedule(10ms + i * 1ms, [] {});
    CHECK(arms() == 1);
    CHECK(wake_in() == 10ms);
}

TEST_CASE("arming_same_tick_costs_nothing_earlier_tick_once") {
    asio::io_context io;
    scripted_wheel wheel(io);
    wheel.schedule(95ms, [] {});
    wheel.schedule(91ms, [] {}); // the same tick
    CHECK(arms() == 1);
    CHECK(wake_in() == 100ms);
    wheel.schedule(35ms, [] {});
    CHECK(arms() == 2);
    CHECK(wake_in() == 40ms);
}

TEST_CASE("arming_push_back_costs_nothing_bring_forward_once") {
    asio::io_context io;
    scripted_wheel wheel(io);
    const auto token = wheel.schedule(1s, [] {});
    for (int i = 0; i < 100; ++i) CHECK(token.reschedule(1s + i * 1ms));
    CHECK(arms() == 1);
    CHECK(token.reschedule(100ms));
    CHECK(arms() == 2);
    CHECK(wake_in() == 100ms);
}

TEST_CASE("arming_cancel_of_others_costs_nothing_of_the_last_once") {
    asio::io_context io;
    scripted_wheel wheel(io);
    const auto a = wheel.schedule(1h, [] {}), b = wheel.schedule(2h, [] {}), c = wheel.schedule(3h, [] {});
    CHECK(a.cancel());
    CHECK(c.cancel());
    CHECK(arms() == 1);
    CHECK(script::the().calls_off == 0);
    CHECK(b.cancel());
    CHECK(arms() == 1);
    CHECK(script::the().calls_off == 1); // so that run() returns
}

TEST_CASE("arming_for_a_timer_that_takes_over_an_entry_of_an_empty_wheel") {
    asio::io_context io;
    scripted_wheel wheel(io);
    bool fired = false;
    CHECK(wheel.schedule(1h, [] {}).cancel());
    pass_scripted(io, 0ms); // the driver waits no more
    CHECK_FALSE(wake_in());
    wheel.schedule(1h, [&fired] { fired = true; });
    CHECK(wake_in() == 1h);
    pass_scripted(io, 1h);
    CHECK(fired);
}

TEST_CASE("arming_for_a_timer_that_takes_over_an_entry_before_the_next_wake_up") {
    asio::io_context io;
    scripted_wheel wheel(io);
    bool fired = false;
    const auto near = wheel.schedule(1s, [&fired] { fired = true; });
    const auto first = wheel.schedule(10ms, [] {});
    wheel.schedule(1h, [] {});
    CHECK(near.cancel());
    pass_scripted(io, 10ms); // the turn plans the next wake-up: no timer is due in a second
    CHECK_FALSE(first.pending());
    wheel.schedule(1s, [&fired] { fired = true; });
    CHECK(wake_in() <= 1s);
    pass_scripted(io, 1s);
    CHECK(fired);
}

TEST_CASE("arming_for_a_timer_that_is_moved_to_between_its_entry_and_the_wake_up") {
    asio::io_context io;
    scripted_wheel wheel(io);
    bool fired = false;
    const auto f = [&fired] { fired = true; };
    std::optional<callback_timer<decltype(f), scripted_wheel>> timer;
    SUBCASE("token") {
        CHECK(wheel.schedule(1000ms, f).cancel());
        pass_scripted(io, 0ms);
        const auto token = wheel.schedule(1600ms, f); // by the entry at 1000 ms; the driver is armed for 1600 ms
        CHECK(token.reschedule(1050ms));
    }
    SUBCASE("callback timer") {
        timer.emplace(wheel, f);
        CHECK(timer->schedule(1000ms));
        CHECK(timer->cancel());
        pass_scripted(io, 0ms);
        CHECK(timer->schedule(1600ms));
        CHECK(timer->schedule(1050ms));
    }
    CHECK(wake_in() <= 1050ms);
    pass_scripted(io, 1050ms);
    CHECK(fired);
}

TEST_CASE("arming_request_pattern_does_not_arm_per_request") {
    asio::io_context io;
    scripted_wheel wheel(io);
    for (int i = 0; i < 1000; ++i) CHECK(wheel.schedule(30s, must_not_run()).cancel());
    CHECK(arms() <= 2);
    for (int i = 0; i < 100; ++i) { // one second
        CHECK(wheel.schedule(30s, must_not_run()).cancel());
        pass_scripted(io, 10ms);
    }
    CHECK(arms() <= 2 + 2 * 100);
}

TEST_CASE("arming_turn_that_was_posted_leaves_the_planned_wake_up_as_it_is") {
    asio::io_context io;
    basic_timer_wheel<scripted_clock, single_threaded, asked_wheel> wheel(io);
    wheel.schedule(30s, [] {});
    const int before = asked_wheel::asked;
    for (int i = 0; i < 100; ++i) {
        asio::cancellation_signal signal;
        wheel.async_wait(1h, asio::bind_cancellation_slot(signal.slot(), [](std::error_code) {}));
        signal.emit(asio::cancellation_type::terminal);
        io.poll(); // a turn, for each request of a client that has one connection
    }
    CHECK(asked_wheel::asked == before); // each time, the wheel would look at all slots with an entry
    CHECK(arms() == 1);
    pass_scripted(io, 30s);
    CHECK(wheel.pending() == 0);
}

TEST_CASE("arming_for_a_timer_before_the_wake_up_that_is_armed_beside_a_turn") {
    asio::io_context io;
    scripted_wheel wheel(io);
    wheel.schedule(30s, [] {});
    bool fired = false;
    const auto moved = wheel.schedule(40s, [&] { fired = true; });
    const auto arm = [&] { wheel.schedule(1s, [&] { fired = true; }); };
    asio::cancellation_signal signal;
    bool in_handler = false;
    wheel.async_wait(1h, asio::bind_cancellation_slot(signal.slot(), [&](std::error_code) {
                         if (in_handler) arm();
                     }));
    signal.emit(asio::cancellation_type::terminal);
    SUBCASE("before the turn") {
        wheel.schedule(2s, [] {});
        arm();
    }
    SUBCASE("by a handler in the turn") { in_handler = true; }
    SUBCASE("by its being moved") { CHECK(moved.reschedule(1s)); }
    io.poll();
    CHECK(arms() == 2); // once, by the turn
    CHECK(wake_in() == 1s);
    pass_scripted(io, 1s);
    CHECK(fired);
}

TEST_CASE("arming_turn_arms_once_for_the_next_due_tick") {
    asio::io_context io;
    scripted_wheel wheel(io);
    int fired = 0;
    for (int i = 0; i < 50; ++i)
        wheel.schedule(10ms, [&] {
            ++fired;
            for (int k = 3; k > 0; --k) wheel.schedule(k * 100ms, [] {});
        });
    CHECK(arms() == 1);
    pass_scripted(io, 10ms);
    CHECK(fired == 50);
    CHECK(arms() == 2);
    CHECK(wake_in() == 100ms);
}

TEST_CASE("arming_overdue_timers_need_no_driver") {
    asio::io_context io;
    scripted_wheel wheel(io);
    for (int i = 0; i < 10; ++i) wheel.schedule(0s, [] {});
    pass_scripted(io, 0ns);
    CHECK(wheel.stats().fired == 10);
    CHECK(arms() == 0);
}

TEST_CASE("arming_fails_new_timer_throws_the_others_are_not_forgotten") {
    asio::io_context io;
    scripted_wheel wheel(io);
    bool first = false, third = false;
    wheel.async_wait(50ms, must_complete({}, &first));
    script::the().fail = true;
    CHECK_THROWS_AS(wheel.schedule(10ms, must_not_run()), std::bad_alloc);
    CHECK(wheel.pending() == 1);
    CHECK(wheel.stats().scheduled == 1);
    script::the().fail = false;
    // Due later than the first, whose wake-up went with the failure.
    wheel.async_wait(1h, must_complete({}, &third));
    pass_scripted(io, 50ms);
    CHECK(first);
    pass_scripted(io, 1h);
    CHECK(third);
}

TEST_CASE("arming_fails_the_others_fire_though_nobody_calls_again") {
    asio::io_context io;
    scripted_wheel wheel(io);
    bool first = false;
    wheel.async_wait(50ms, must_complete({}, &first));
    script::the().fail = true;
    CHECK_THROWS_AS(wheel.schedule(10ms, must_not_run()), std::bad_alloc);
    for (int turn = 0; turn < 3; ++turn) { // each cannot arm either, says so, and leaves it to the next
        io.restart();
        CHECK_THROWS_AS(io.poll(), std::bad_alloc); // without the exception, it would run turn after turn
    }
    CHECK(wheel.pending() == 1);
    script::the().fail = false;
    pass_scripted(io, 0ms);
    CHECK(wake_in() == 50ms);
    pass_scripted(io, 50ms);
    CHECK(first);
}

TEST_CASE("arming_wait_that_is_lost_before_it_is_armed_is_replaced_by_a_turn") {
    asio::io_context io;
    scripted_wheel wheel(io);
    for (int round = 0; round < 2; ++round) {
        bool done = false;
        script::the().lose = true;
        wheel.async_wait(50ms, must_complete({}, &done));
        CHECK_FALSE(wake_in());
        pass_scripted(io, 0ms);
        CHECK(wake_in() == 50ms);
        pass_scripted(io, 50ms);
        CHECK(done);
    }
    script::the().fail = true; // the number of a wait that was not armed is that of the next one
    CHECK_THROWS_AS(wheel.schedule(10ms, must_not_run()), std::bad_alloc);
    script::the().fail = false;
    wheel.schedule(10ms, [] {});
    CHECK(wake_in() == 10ms);
    CHECK(run_ready(io) == 0);
}

TEST_CASE("arming_fails_reschedule_throws_and_the_expiry_is_the_old_one") {
    asio::io_context io;
    scripted_wheel wheel(io);
    bool done = false;
    const auto token = wheel.schedule(50ms, [&done] { done = true; });
    const auto expiry = token.expiry();
    script::the().fail = true;
    CHECK_THROWS_AS(token.reschedule(10ms), std::bad_alloc);
    script::the().fail = false;
    CHECK(token.expiry() == expiry);
    pass_scripted(io, 49ms);
    CHECK_FALSE(done);
    pass_scripted(io, 1ms);
    CHECK(done);
}

TEST_CASE("arming_fails_cancel_of_the_last_timer_succeeds") {
    asio::io_context io;
    scripted_wheel wheel(io);
    const auto token = wheel.schedule(1h, must_not_run());
    script::the().fail = true;
    CHECK(token.cancel());
    script::the().fail = false;
    bool done = false;
    wheel.async_wait(20ms, must_complete({}, &done));
    pass_scripted(io, 20ms);
    CHECK(done);
}

TEST_CASE("arming_fails_new_wait_throws_its_handler_is_destroyed_and_its_slot_names_nothing") {
    asio::io_context io;
    scripted_wheel wheel(io);
    asio::cancellation_signal signal;
    int destroyed = 0;
    script::the().fail = true;
    CHECK_THROWS_AS(wheel.async_wait(10ms, asio::bind_cancellation_slot(signal.slot(), must_not_run(&destroyed))),
                    std::bad_alloc);
    CHECK(destroyed == 1);
    CHECK(wheel.pending() == 0);
    script::the().fail = false;
    bool done = false; // of the same size, so that it gets the very block
    wheel.async_wait(20ms, asio::bind_cancellation_slot(asio::cancellation_slot(), must_complete({}, &done)));
    signal.emit(asio::cancellation_type::terminal);
    pass_scripted(io, 20ms);
    CHECK(done);
}

TEST_CASE("arming_wait_that_was_replaced_makes_no_turn") {
    asio::io_context io;
    scripted_wheel wheel(io);
    wheel.schedule(1h, [] {});
    wheel.schedule(10ms, [] {});
    CHECK(arms() == 2);
    run_ready(io);
    CHECK(wheel.stats().turns == 0);
    pass_scripted(io, 10ms);
    CHECK(wheel.stats().turns == 1);
}
