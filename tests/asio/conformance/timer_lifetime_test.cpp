// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who may die before whom: the timer in its own handler, the wheel before its timers, the context with all of them.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>

#include <memory>
#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("destroyed_in_its_own_handler_its_other_waits_still_complete", T, EVERY_TIMER) {
    T w;
    auto timer = std::make_unique<typename T::timer_type>(w.wheel, 10ms);
    int succeeded = 0;
    for (int i = 0; i < 3; ++i)
        timer->async_wait([&](std::error_code ec) {
            CHECK_FALSE(ec); // expired before it was destroyed
            ++succeeded;
            timer.reset();
        });
    w.pass(10ms);
    CHECK(succeeded == 3);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("destroyed_in_the_handler_of_an_aborted_wait", T, EVERY_TIMER) {
    T w;
    auto timer = std::make_unique<typename T::timer_type>(w.wheel, 1h);
    int aborted = 0;
    for (int i = 0; i < 2; ++i)
        timer->async_wait([&](std::error_code ec) {
            aborted += ec == asio::error::operation_aborted;
            timer.reset();
        });
    CHECK(timer->cancel_one() == 1);
    w.run();
    CHECK(aborted == 2);
}

TEST_CASE_TEMPLATE("owned_by_its_handler_lives_until_that_has_run", T, EVERY_TIMER) {
    T w;
    auto timer = std::make_shared<typename T::timer_type>(w.wheel, 10ms);
    const std::weak_ptr<typename T::timer_type> alive = timer;
    bool done = false;
    timer->async_wait([timer, &done](std::error_code ec) { done = !ec && timer->cancel() == 0; });
    timer.reset();
    w.run();
    CHECK_FALSE(alive.expired());
    w.pass(10ms);
    CHECK(done);
    CHECK(alive.expired());
}

TEST_CASE_TEMPLATE("destroyed_in_the_handler_of_another_timer_of_the_same_tick", T, EVERY_TIMER) {
    T w;
    std::optional<typename T::timer_type> timers[2];
    int succeeded = 0, aborted = 0;
    for (auto& t : timers) t.emplace(w.wheel, 10ms);
    for (int i = 0; i < 2; ++i)
        timers[i]->async_wait([&, i](std::error_code ec) {
            ec ? ++aborted : ++succeeded;
            timers[1 - i].reset();
        });
    w.pass(10ms);
    CHECK(succeeded == 1);
    CHECK(aborted == 1);
}

TEST_CASE_TEMPLATE("wheel_destroyed_before_its_timer_later_waits_complete_with_stopped", T, EVERY_TIMER) {
    asio::io_context io;
    std::optional<typename T::wheel_type> wheel(io);
    std::optional<typename T::timer_type> timer(std::in_place, *wheel, 10ms);
    bool aborted = false, stopped = false, again = false;
    timer->async_wait(must_abort(&aborted));
    wheel.reset();
    CHECK(timer->cancel() == 0);
    run_ready(io);
    CHECK(aborted);
    timer->async_wait(must_complete(errc::stopped, &stopped));
    CHECK_FALSE(stopped); // not inline
    run_ready(io);
    CHECK(stopped);
    CHECK(timer->expires_after(10ms) == 0);
    CHECK_FALSE(timer->reschedule(10ms));
    typename T::timer_type moved(std::move(*timer));
    moved.async_wait(must_complete(errc::stopped, &again));
    timer.reset();
    run_ready(io);
    CHECK(again);
}

TEST_CASE_TEMPLATE("wheel_destroyed_before_its_timer_the_next_wheel_is_not_disturbed", T, EVERY_TIMER) {
    asio::io_context io;
    std::optional<typename T::wheel_type> wheel(io);
    std::optional<typename T::timer_type> old(std::in_place, *wheel, 10ms);
    old->async_wait(must_abort());
    wheel.reset();
    run_ready(io);
    wheel.emplace(io); // must not get the body that the old timer holds on to
    typename T::timer_type timer(*wheel, 10ms);
    bool done = false, stopped = false;
    timer.async_wait(must_complete({}, &done));
    old->async_wait(must_complete(errc::stopped, &stopped));
    CHECK(old->cancel() == 0);
    CHECK(wheel->pending() == 1);
    old.reset();
    pass(io, 10ms);
    CHECK(done);
    CHECK(stopped);
    CHECK(wheel->stats().rejected == 0);
}

TEST_CASE_TEMPLATE("wheel_destroyed_then_its_timer_the_impl_is_used_again", T, EVERY_TIMER) {
    asio::io_context io;
    asio::cancellation_signal signal;
    for (int i = 0; i < 3; ++i) {
        std::optional<typename T::wheel_type> wheel(io);
        typename T::timer_type timer(*wheel, 10ms);
        bool aborted = false, done = false;
        timer.async_wait(must_complete({}, &done));
        signal.emit(asio::cancellation_type::terminal); // of the round before
        pass(io, 10ms);
        CHECK(done);
        timer.expires_after(10ms);
        timer.async_wait(asio::bind_cancellation_slot(signal.slot(), must_abort(&aborted)));
        if (i == 1) timer.cancel();
        wheel.reset();
        if (i != 2) run_ready(io);
        {
            const auto gone = std::move(timer);
        }
        run_ready(io);
        CHECK(aborted);
    }
    CHECK(run_ready(io) == 0);
    CHECK(io.stopped());
}

TEST_CASE_TEMPLATE("wheel_destroyed_in_a_timers_handler", T, EVERY_TIMER) {
    asio::io_context io;
    std::optional<typename T::wheel_type> wheel(io);
    typename T::timer_type first(*wheel, 10ms), second(*wheel, 1h);
    bool ran = false, aborted = false, stopped = false;
    first.async_wait([&](std::error_code ec) {
        CHECK_FALSE(ec);
        wheel.reset();
        first.async_wait(must_complete(errc::stopped, &stopped));
        ran = true;
    });
    second.async_wait(must_abort(&aborted));
    pass(io, 10ms);
    CHECK(ran);
    CHECK(aborted);
    CHECK(stopped);
}

TEST_CASE_TEMPLATE("context_destroyed_handlers_own_timer_and_wheel_all_are_destroyed", T, EVERY_TIMER) {
    int destroyed = 0;
    {
        asio::io_context io;
        auto wheel = std::make_shared<typename T::wheel_type>(io);
        for (int i = 0; i < 3; ++i) {
            auto timer = std::make_shared<typename T::timer_type>(*wheel, 1h);
            for (int k = 0; k < 2; ++k)
                timer->async_wait([wheel, timer, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
            if (i == 1) timer->cancel();
            if (i == 2) timer->cancel_one();
        }
        wheel.reset();
        CHECK(destroyed == 0);
    }
    CHECK(destroyed == 6);
}

TEST_CASE_TEMPLATE("context_destroyed_handler_owns_the_timer_its_own_waits_stand_on_another", T, EVERY_TIMER) {
    int destroyed = 0;
    {
        asio::io_context io;
        auto wheel = std::make_shared<typename T::wheel_type>(io);
        auto a = std::make_shared<typename T::timer_type>(*wheel, 1h);
        auto b = std::make_shared<typename T::timer_type>(*wheel, 2h);
        a->async_wait([b, wheel, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        b->async_wait([a, wheel, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        asio::post(io, [a, b, wheel] {}); // destroyed by a service older than ours
    }
    CHECK(destroyed == 2);
}

TEST_CASE_TEMPLATE("context_destroyed_destroyed_handler_may_still_call_its_timer", T, EVERY_TIMER) {
    using timer_type = typename T::timer_type;
    bool asked = false;
    {
        asio::io_context io;
        typename T::wheel_type wheel(io);
        struct probe {
            std::shared_ptr<timer_type> timer;
            bool* asked;
            probe(std::shared_ptr<timer_type> t, bool& a) : timer(std::move(t)), asked(&a) {}
            probe(probe&&) = default;
            ~probe() {
                if (timer == nullptr) return;
                *asked = true;
                CHECK(timer->cancel() == 0);
                CHECK(timer->cancel_one() == 0);
                CHECK(timer->expires_after(1s) == 0);
                CHECK_FALSE(timer->reschedule(1s));
                timer->async_wait(must_not_run());
                timer_type moved(std::move(*timer));
                moved.async_wait(must_not_run());
            }
            void operator()(std::error_code) const { FAIL("ran"); }
        };
        auto timer = std::make_shared<timer_type>(wheel, 1h);
        timer->async_wait(probe(timer, asked));
        timer->async_wait(must_not_run());
    }
    CHECK(asked);
}
