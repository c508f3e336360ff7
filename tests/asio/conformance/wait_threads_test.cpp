// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One wheel, many threads: each has timers of its own, all of them run the context, signals come from anywhere.
#include "support/asio/every_wait.hpp"
#include "support/threads.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using timer_type = timer_on<manual_timer_wheel>;

struct tally {
    std::atomic<int> succeeded{0}, aborted{0};

    auto handler() {
        return [this](std::error_code ec) {
            if (ec && ec != asio::error::operation_aborted) return; // then the sum is wrong
            ec ? ++aborted : ++succeeded;
        };
    }
    void await(int count) const {
        while (succeeded + aborted != count) std::this_thread::yield();
    }
};

} // namespace

TEST_CASE("threads_each_with_its_own_timers_every_wait_completes_once") {
    asio::io_context io;
    tally t;
    std::atomic<int> started{0};
    {
        runners threads(io, 2);
        manual_timer_wheel wheel(io, {.tick = 1ms, .slots = 16, .work_per_turn = 7});
        on_threads(3, [&](int seed) {
            std::vector<timer_type> timers;
            for (int i = 0; i < 5; ++i) timers.emplace_back(wheel);
            for (int i = 0; i < 2000; ++i) {
                timer_type& timer = timers[static_cast<std::size_t>(i * 7 + seed) % timers.size()];
                switch (i % 6) {
                case 0:
                    timer.expires_after(std::chrono::milliseconds(i % 5));
                    break;
                case 1:
                    timer.cancel_one();
                    break;
                case 2:
                    timer.reschedule(std::chrono::milliseconds(i % 3));
                    break;
                case 3:
                    timers.back() = std::move(timer);
                    break;
                default:
                    break;
                }
                timer.async_wait(t.handler());
                ++started;
                if (i % 10 == 0) manual_clock::advance(1ms);
            }
        });
        t.await(started);
        CHECK(wheel.pending() == 0);
        CHECK(counts_agree(wheel.stats()));
    }
    CHECK(t.succeeded + t.aborted == 6000);
}

TEST_CASE("threads_cancel_against_expiry_the_count_returned_is_what_was_aborted") {
    asio::io_context io;
    tally t;
    int cancelled = 0;
    constexpr int rounds = 300;
    {
        runners threads(io, 2);
        manual_timer_wheel wheel(io, {.tick = 1ms});
        timer_type timer(wheel);
        for (int r = 1; r <= rounds; ++r) {
            timer.expires_after(1ms);
            for (int i = 0; i < 3; ++i) timer.async_wait(t.handler());
            manual_clock::advance(1ms);
            cancelled += static_cast<int>(r % 2 == 0 ? timer.cancel() : timer.cancel_one());
            t.await(3 * r);
        }
    }
    CHECK(t.aborted == cancelled);
    CHECK(t.succeeded + t.aborted == 3 * rounds);
}

TEST_CASE_TEMPLATE("threads_emit_from_another_thread_against_expiry_completes_once", W, on_wheel, on_timer) {
    W w;
    tally t;
    constexpr int rounds = 200, batch = 10;
    runners threads(w.io, 2);
    for (int r = 1; r <= rounds; ++r) {
        std::vector<std::unique_ptr<asio::cancellation_signal>> signals;
        for (int i = 0; i < batch; ++i) {
            signals.push_back(std::make_unique<asio::cancellation_signal>());
            w.wait(10ms, asio::bind_cancellation_slot(signals.back()->slot(), t.handler()));
        }
        manual_clock::advance(10ms);
        for (const auto& s : signals) s->emit(asio::cancellation_type::terminal);
        t.await(r * batch);
    }
    CHECK(w.wheel.pending() == 0);
    CHECK(w.wheel.stats().cancelled == static_cast<std::uint64_t>(t.aborted));
    CHECK(w.wheel.stats().fired == static_cast<std::uint64_t>(t.succeeded));
    w.wheel = typename W::wheel_type(w.io); // and with it a wake-up that nobody would bring about any more
    if constexpr (requires { w.timers; }) w.timers.clear();
}

TEST_CASE("threads_timer_moved_and_destroyed_against_expiry_and_emit") {
    asio::io_context io;
    tally t;
    constexpr int rounds = 300;
    {
        runners threads(io, 2);
        manual_timer_wheel wheel(io, {.tick = 1ms});
        for (int r = 1; r <= rounds; ++r) {
            asio::cancellation_signal signal;
            auto timer = std::make_unique<timer_type>(wheel, 1ms);
            timer->async_wait(asio::bind_cancellation_slot(signal.slot(), t.handler()));
            timer->async_wait(t.handler());
            manual_clock::advance(1ms);
            timer_type moved(std::move(*timer));
            timer.reset();
            signal.emit(asio::cancellation_type::total);
            timer_type assigned(wheel);
            assigned = std::move(moved);
            {
                const timer_type gone(std::move(assigned));
            }
            t.await(2 * r);
        }
        CHECK(wheel.pending() == 0);
        CHECK(counts_agree(wheel.stats()));
    }
    CHECK(t.succeeded + t.aborted == 2 * rounds);
}

TEST_CASE("threads_wheel_destroyed_beside_timers_that_outlive_it") {
    asio::io_context io;
    std::atomic<int> ended{0};
    int started = 0;
    {
        runners threads(io, 2);
        for (int r = 0; r < 200; ++r) {
            auto wheel = std::make_unique<manual_timer_wheel>(io, wheel_options{.tick = 1ms});
            timer_type timer(*wheel, 1ms);
            timer.async_wait([&](std::error_code) { ++ended; });
            manual_clock::advance(1ms);
            wheel.reset();
            timer.async_wait([&](std::error_code) { ++ended; });
            started += 2;
        }
        while (ended != started) std::this_thread::yield();
    }
    CHECK(ended == 400);
}
