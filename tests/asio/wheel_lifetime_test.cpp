// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel's end and its moves: nothing pending is lost, wherever they happen.
#include "support/asio/asio_backend.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/detail/on_wheel.hpp>

#include <asio/strand.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("destroyed_with_timers_pending_the_context_is_out_of_work_at_once") {
    asio::io_context io;
    int destroyed = 0;
    {
        manual_timer_wheel wheel(io);
        for (int i = 0; i < 10; ++i) wheel.async_wait(i * 1h, must_abort());
        wheel.schedule(1h, must_not_run(&destroyed));
    }
    CHECK(run_ready(io) > 0);
    CHECK(destroyed == 1);
    CHECK(io.stopped()); // nothing keeps the context running
}

TEST_CASE("destroyed_empty_context_has_no_work_left") {
    asio::io_context io;
    {
        manual_timer_wheel wheel(io);
        CHECK(wheel.schedule(1h, [] {}).cancel()); // the wake-up that was planned is called off, and on its way
    }
    CHECK(run_ready(io) <= (on_io_uring ? 2 : 1));
    CHECK(io.stopped());
}

TEST_CASE("destroyed_in_a_handler_that_throws_then_the_aborts_still_come") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(io);
    bool aborted = false;
    wheel->async_wait(1h, must_abort(&aborted));
    wheel->schedule(10ms, [&] {
        wheel.reset();
        throw 1;
    });
    CHECK_THROWS_AS(pass(io, 10ms), int);
    run_ready(io);
    CHECK(aborted);
}

TEST_CASE("destroyed_and_replaced_in_a_handler_both_wheels_work") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(io);
    bool aborted = false, fired = false;
    wheel->async_wait(1h, must_abort(&aborted));
    wheel->schedule(10ms, [&] {
        wheel.reset();
        wheel.emplace(io, wheel_options{.tick = 1ms});
        wheel->async_wait(5ms, must_complete({}, &fired));
    });
    pass(io, 10ms);
    CHECK(aborted);
    CHECK_FALSE(fired);
    pass(io, 5ms);
    CHECK(fired);
}

TEST_CASE("destroyed_context_never_run_handlers_are_destroyed_uninvoked") {
    int destroyed = 0;
    {
        asio::io_context io;
        manual_timer_wheel wheel(io);
        wheel.async_wait(0ms, must_not_run(&destroyed));
        wheel.async_wait(1h, must_not_run(&destroyed));
        {
            const manual_timer_wheel moved(std::move(wheel));
        }
        CHECK(destroyed == 0);
    }
    CHECK(destroyed == 2);
}

TEST_CASE("moved_with_waits_pending_they_fire_from_the_new_one") {
    virtual_wheel w;
    bool done = false;
    w.wheel.async_wait(10ms, must_complete({}, &done));
    manual_timer_wheel moved(std::move(w.wheel));
    CHECK(moved.pending() == 1);
    w.pass(10ms);
    CHECK(done);
    CHECK(moved.stats().fired == 1);
}

TEST_CASE("moved_in_a_handler_the_batch_goes_on") {
    asio::io_context io;
    std::optional<manual_timer_wheel> first(io), second;
    int succeeded = 0;
    for (int i = 0; i < 3; ++i)
        first->async_wait(10ms, [&](std::error_code ec) {
            succeeded += !ec;
            if (first) {
                second.emplace(std::move(*first));
                first.reset();
            }
        });
    pass(io, 10ms);
    CHECK(succeeded == 3);
}

TEST_CASE("move_assigned_the_old_waits_are_aborted_the_new_ones_go_on") {
    asio::io_context io;
    manual_timer_wheel a(io), b(io);
    bool aborted = false, fired = false;
    a.async_wait(10ms, must_abort(&aborted));
    b.async_wait(10ms, must_complete({}, &fired));
    a = std::move(b);
    auto& same = a;
    a = std::move(same);
    pass(io, 10ms);
    CHECK(aborted);
    CHECK(fired);
    b = manual_timer_wheel(io); // assigned to, it may be used again
    bool again = false;
    b.async_wait(10ms, must_complete({}, &again));
    pass(io, 10ms);
    CHECK(again);
}

TEST_CASE("impl_recycled_the_next_wheel_starts_afresh") {
    asio::io_context io;
    for (int i = 0; i < 4; ++i) {
        manual_timer_wheel wheel(io, {.tick = 1ms * (i + 1), .slots = std::size_t{1} << i, .max_pending = 3});
        const wheel_stats s = wheel.stats();
        CHECK(s.scheduled + s.fired + s.cancelled + s.rejected + s.turns + s.wakeups + s.pending == 0);
        bool done = false;
        wheel.async_wait(10ms, must_complete({}, &done));
        wheel.async_wait(1h, must_abort());
        pass(io, 12ms);
        CHECK(done);
        if (i % 2 == 0) wheel.stop();
    }
    run_ready(io);
}

TEST_CASE("impls_recycled_are_handed_out_once_each_the_last_one_first") {
    asio::io_context io;
    std::optional<manual_timer_wheel> a(io), b(io), c(io);
    const auto *const of_a = &detail::impl_of(*a), *const of_b = &detail::impl_of(*b),
                      *const of_c = &detail::impl_of(*c);
    b.reset();
    c.reset();
    a.reset();
    a.emplace(io);
    CHECK(&detail::impl_of(*a) == of_a);
    b.emplace(io);
    CHECK(&detail::impl_of(*b) == of_c);
    a.reset(); // and comes back while another one waits
    c.emplace(io);
    CHECK(&detail::impl_of(*c) == of_a);
    a.emplace(io);
    CHECK(&detail::impl_of(*a) == of_b);
    const manual_timer_wheel fourth(io);
    for (const auto* impl : {of_a, of_b, of_c}) CHECK(&detail::impl_of(fourth) != impl);
}

// What tokens of the first wheel touch is read without a lock.
TEST_CASE("impl_without_a_lock_is_handed_out_to_its_strand_alone") {
    asio::io_context io;
    const auto first = asio::make_strand(io), second = asio::make_strand(io);
    std::optional<manual_local_timer_wheel> wheel(first);
    const auto* impl = &detail::impl_of(*wheel);
    wheel.reset();
    manual_local_timer_wheel elsewhere(second);
    CHECK(&detail::impl_of(elsewhere) != impl);
    manual_local_timer_wheel again(first);
    CHECK(&detail::impl_of(again) == impl);
}

TEST_CASE("impl_that_somebody_holds_on_to_is_not_handed_out") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(io);
    auto& impl = detail::impl_of(*wheel);
    auto user = std::make_unique<detail::wheel_hold<std::remove_reference_t<decltype(impl)>>>(impl);
    wheel.reset();
    const manual_timer_wheel elsewhere(io);
    CHECK(&detail::impl_of(elsewhere) != &impl);
    user.reset();
    const manual_timer_wheel again(io);
    CHECK(&detail::impl_of(again) == &impl);
}

TEST_CASE("impl_with_a_turn_outstanding_is_not_handed_out") {
    asio::io_context io;
    bool aborted = false, fired = false;
    {
        manual_timer_wheel wheel(io);
        wheel.async_wait(1h, must_abort(&aborted));
    }
    manual_timer_wheel next(io); // the first one's aborts are not delivered yet
    next.async_wait(10ms, must_complete({}, &fired));
    CHECK(next.pending() == 1);
    run_ready(io);
    CHECK(aborted);
    CHECK_FALSE(fired);
    pass(io, 10ms);
    CHECK(fired);
}

TEST_CASE("many_wheels_on_one_context_do_not_disturb_each_other") {
    asio::io_context io;
    std::vector<manual_timer_wheel> wheels;
    for (int i = 1; i <= 20; ++i) wheels.emplace_back(io, wheel_options{.tick = 1ms});
    std::vector<bool> fired(wheels.size());
    for (std::size_t i = 0; i < wheels.size(); ++i)
        wheels[i].schedule(std::chrono::milliseconds(i + 1), [&fired, i] { fired[i] = true; });
    wheels.erase(wheels.begin(), wheels.begin() + 5);
    for (std::size_t i = 0; i < fired.size(); ++i) {
        pass(io, 1ms);
        for (std::size_t k = 0; k < fired.size(); ++k) REQUIRE(fired[k] == (k >= 5 && k <= i));
    }
}
