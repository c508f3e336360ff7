// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a handler may do to the other waits of its timer and to the other timers of its tick.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <memory>
#include <stdexcept>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Runs until nothing is ready, also if handlers throw. Returns how many did.
template <class T>
int run_in_spite_of_throws(T& w) {
    for (int thrown = 0;;) {
        try {
            w.run();
            return thrown;
        } catch (const std::runtime_error&) {
            ++thrown;
            CHECK(counts_agree(w.wheel.stats()));
        }
    }
}

} // namespace

TEST_CASE_TEMPLATE("throwing_handler_among_several_waits_loses_none_and_keeps_the_order", T, EVERY_TIMER) {
    for (const std::uint32_t work : {1U, 2U, 1024U}) {
        CAPTURE(work);
        T w({.work_per_turn = work});
        typename T::timer_type timer(w.wheel, 10ms);
        std::vector<int> order;
        for (int i = 0; i < 7; ++i)
            timer.async_wait([&order, i](std::error_code ec) {
                CHECK_FALSE(ec);
                order.push_back(i);
                if (i % 2 == 0) throw std::runtime_error("from a handler");
            });
        manual_clock::advance(10ms);
        CHECK(run_in_spite_of_throws(w) == 4);
        CHECK(order == std::vector{0, 1, 2, 3, 4, 5, 6});
        CHECK(w.wheel.stats().fired == 1);
    }
}

TEST_CASE_TEMPLATE("throwing_handler_of_an_aborted_wait_the_others_still_complete", T, EVERY_TIMER) {
    T w;
    std::vector<int> order;
    {
        typename T::timer_type timer(w.wheel, 1h);
        for (int i = 0; i < 5; ++i)
            timer.async_wait([&order, i](std::error_code ec) {
                CHECK(ec == asio::error::operation_aborted);
                order.push_back(i);
                throw std::runtime_error("from a handler");
            });
    }
    CHECK(run_in_spite_of_throws(w) == 5);
    CHECK(order == std::vector{0, 1, 2, 3, 4});
}

TEST_CASE_TEMPLATE("throwing_handler_the_timer_destroyed_before_the_rest_is_delivered", T, EVERY_TIMER) {
    T w;
    auto timer = std::make_unique<typename T::timer_type>(w.wheel, 10ms);
    int succeeded = 0;
    for (int i = 0; i < 3; ++i)
        timer->async_wait([&](std::error_code ec) {
            succeeded += !ec;
            if (succeeded == 1) throw std::runtime_error("from a handler");
        });
    CHECK_THROWS_AS(w.pass(10ms), std::runtime_error);
    CHECK(timer->cancel() == 0); // they have expired
    timer.reset();
    w.run();
    CHECK(succeeded == 3);
}

TEST_CASE_TEMPLATE("throwing_handler_then_the_context_ends_the_rest_is_destroyed", T, EVERY_TIMER) {
    int destroyed = 0;
    {
        T w;
        typename T::timer_type timer(w.wheel, 10ms);
        timer.async_wait([](std::error_code) { throw std::runtime_error("from a handler"); });
        for (int i = 0; i < 2; ++i) timer.async_wait(must_not_run(&destroyed));
        CHECK_THROWS_AS(w.pass(10ms), std::runtime_error);
    }
    CHECK(destroyed == 2);
}

TEST_CASE_TEMPLATE("cancel_of_another_timer_of_the_same_tick_it_is_aborted", T, EVERY_TIMER) {
    T w;
    std::vector<typename T::timer_type> timers;
    for (int i = 0; i < 5; ++i) timers.emplace_back(w.wheel, 10ms);
    int succeeded = 0, aborted = 0;
    for (auto& t : timers)
        for (int k = 0; k < 2; ++k)
            t.async_wait([&](std::error_code ec) {
                if (ec) return void(++aborted);
                if (++succeeded != 1) return;
                std::size_t n = 0;
                for (auto& other : timers) n += other.cancel();
                CHECK(n == 8); // all but its own timer's, which has expired
            });
    w.pass(10ms);
    CHECK(succeeded == 2);
    CHECK(aborted == 8);
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.stats().fired == 1);
    CHECK(w.wheel.stats().cancelled == 4);
}

TEST_CASE_TEMPLATE("emit_for_another_wait_of_the_same_timer_comes_too_late", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    asio::cancellation_signal signals[3];
    int succeeded = 0;
    for (auto& s : signals)
        timer.async_wait(asio::bind_cancellation_slot(s.slot(), [&](std::error_code ec) {
            succeeded += !ec;
            for (auto& other : signals) other.emit(asio::cancellation_type::terminal);
        }));
    w.pass(10ms);
    CHECK(succeeded == 3);
    CHECK(counts_agree(w.wheel.stats()));
}

TEST_CASE_TEMPLATE("emit_for_a_wait_of_another_timer_of_the_same_tick_aborts_it", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timers[2] = {{w.wheel, 10ms}, {w.wheel, 10ms}};
    asio::cancellation_signal signals[2];
    int succeeded = 0, aborted = 0;
    for (int i = 0; i < 2; ++i)
        timers[i].async_wait(asio::bind_cancellation_slot(signals[i].slot(), [&, i](std::error_code ec) {
            ec ? ++aborted : ++succeeded;
            signals[1 - i].emit(asio::cancellation_type::total);
        }));
    w.pass(10ms);
    CHECK(succeeded == 1);
    CHECK(aborted == 1);
}

TEST_CASE_TEMPLATE("wait_added_in_a_handler_of_the_same_timer_completes_after_its_siblings", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    std::vector<int> order;
    timer.async_wait([&](std::error_code) {
        order.push_back(0);
        timer.async_wait([&](std::error_code ec) {
            CHECK_FALSE(ec);
            order.push_back(2);
        });
    });
    timer.async_wait([&](std::error_code) { order.push_back(1); });
    w.pass(10ms);
    CHECK(order == std::vector{0, 1, 2});
}

TEST_CASE_TEMPLATE("wait_added_and_cancelled_in_a_handler", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    bool aborted = false, sibling = false;
    timer.async_wait([&](std::error_code) {
        timer.async_wait(must_abort(&aborted));
        CHECK(timer.cancel() == 1);
        CHECK(timer.cancel() == 0);
    });
    timer.async_wait(must_complete({}, &sibling));
    w.pass(10ms);
    CHECK(sibling);
    CHECK(aborted);
}

TEST_CASE_TEMPLATE("nested_poll_in_a_handler_completes_nothing_twice", T, EVERY_TIMER) {
    T w;
    typename T::timer_type timer(w.wheel, 10ms);
    int runs = 0;
    for (int i = 0; i < 4; ++i)
        timer.async_wait([&](std::error_code) {
            ++runs;
            w.io.poll();
        });
    w.pass(10ms);
    CHECK(runs == 4);
}
