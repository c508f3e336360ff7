// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Single races between threads: a cancel against the expiry, the wheel's end against its turn, old tokens against new
// wheels.
#include "support/asio/scripted_operation.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("race_cancel_against_expiry_true_means_never_ran") {
    asio::io_context io;
    std::atomic<int> cancelled{0}, ran{0};
    constexpr int rounds = 300, batch = 20;
    {
        runners threads(io, 2);
        manual_timer_wheel wheel(io, {.tick = 1ms, .work_per_turn = 3});
        for (int r = 0; r < rounds; ++r) {
            std::vector<manual_timer_wheel::token_type> tokens;
            std::vector<std::atomic<bool>> done(batch);
            for (int i = 0; i < batch; ++i)
                tokens.push_back(wheel.schedule(1ms, [&ran, &d = done[static_cast<std::size_t>(i)]] {
                    d = true;
                    ++ran;
                }));
            manual_clock::advance(1ms);
            for (std::size_t i = 0; i < batch; ++i) {
                if (!tokens[i].cancel()) continue;
                ++cancelled;
                CHECK_FALSE(done[i]);
            }
            while (cancelled + ran != (r + 1) * batch) std::this_thread::yield();
        }
        CHECK(wheel.stats().fired == static_cast<std::uint64_t>(ran));
        CHECK(wheel.stats().cancelled == static_cast<std::uint64_t>(cancelled));
    }
    CHECK(ran + cancelled == rounds * batch);
}

TEST_CASE("race_waits_started_and_cancelled_in_strands_complete_once") {
    asio::io_context io;
    std::atomic<int> completed{0};
    constexpr int chains = 4, rounds = 400;
    struct chain {
        asio::strand<asio::io_context::executor_type> strand;
        asio::cancellation_signal signal;
        int unguarded = 0; // the strand is its guard

        explicit chain(asio::io_context& on) : strand(asio::make_strand(on)) {}
    };
    std::vector<std::unique_ptr<chain>> all;
    {
        runners threads(io, 3);
        manual_timer_wheel wheel(io, {.tick = 1ms});
        for (int i = 0; i < chains; ++i) all.push_back(std::make_unique<chain>(io));
        for (int r = 0; r < rounds; ++r) {
            for (auto& c : all) {
                asio::post(c->strand, [&wheel, &completed, &c = *c, r] {
                    wheel.async_wait(std::chrono::milliseconds(r % 3),
                                     asio::bind_cancellation_slot(c.signal.slot(),
                                                                  asio::bind_executor(c.strand, [&](std::error_code) {
                                                                      ++c.unguarded;
                                                                      ++completed;
                                                                  })));
                });
                asio::post(c->strand, [&c = *c] { c.signal.emit(asio::cancellation_type::total); });
            }
            manual_clock::advance(1ms);
        }
        while (completed != chains * rounds) {
            manual_clock::advance(1ms);
            std::this_thread::yield();
        }
    }
    for (auto& c : all) CHECK(c->unguarded == rounds);
}

TEST_CASE("race_wheels_made_and_destroyed_beside_running_turns_lose_nothing") {
    asio::io_context io;
    std::atomic<int> ended{0};
    constexpr int makers = 3, rounds = 150, waits = 10;
    {
        runners threads(io, 2);
        on_threads(makers, [&](int) {
            for (int r = 0; r < rounds; ++r) {
                manual_timer_wheel wheel(io, {.tick = 1ms, .slots = 8, .work_per_turn = 2});
                for (int i = 0; i < waits; ++i)
                    wheel.async_wait(std::chrono::milliseconds(i), [&](std::error_code) { ++ended; });
                manual_clock::advance(2ms);
                if (r % 3 == 0) wheel.stop();
            }
        });
    }
    CHECK(ended == makers * rounds * waits);
}

TEST_CASE("race_stale_tokens_against_new_wheels_with_the_same_impl") {
    asio::io_context io;
    std::mutex mutex;
    std::vector<manual_timer_wheel::token_type> stale;
    std::atomic<bool> finished{false};
    std::atomic<int> ran{0};
    constexpr int rounds = 300;
    {
        runners threads(io, 1);
        std::thread prober([&] {
            while (!finished) {
                std::vector<manual_timer_wheel::token_type> tokens;
                {
                    const std::lock_guard lock(mutex);
                    tokens = stale;
                }
                for (const auto& t : tokens) {
                    CHECK_FALSE(t.pending());
                    CHECK_FALSE(t.reschedule(1h));
                    CHECK_FALSE(t.reschedule(manual_clock::now()));
                    CHECK_FALSE(t.cancel());
                    CHECK(t.remaining() == 0ns);
                }
            }
        });
        for (int r = 0; r < rounds; ++r) {
            manual_timer_wheel::token_type pending;
            {
                manual_timer_wheel wheel(io, {.tick = std::chrono::milliseconds(1 + r % 3)});
                pending = wheel.schedule(1h, [] {});
                wheel.schedule(1ms, [&] { ++ran; });
                manual_clock::advance(3ms);
                while (ran != r + 1) std::this_thread::yield();
            }
            const std::lock_guard lock(mutex);
            stale.push_back(pending);
            if (stale.size() > 8) stale.erase(stale.begin());
        }
        finished = true;
        prober.join();
    }
    CHECK(ran == rounds);
}

TEST_CASE("race_trim_against_handlers_that_throw") {
    asio::io_context io;
    std::atomic<int> ran{0}, thrown{0};
    std::atomic<bool> done{false};
    constexpr int count = 2'000;
    manual_timer_wheel wheel(io, {.tick = 1ms, .work_per_turn = 4});
    basic_wheel_timer<testing::manual_timer_wheel> timer(wheel);
    const auto fail = [&] {
        ++ran;
        throw std::runtime_error("on purpose");
    };
    for (int i = 0; i < count; ++i) wheel.schedule(1ms, fail);
    timer.expires_after(1ms);
    for (int i = 0; i < 100; ++i) timer.async_wait([fail](std::error_code) { fail(); });
    scripted_read read(io.get_executor());
    read.on_cancel = [&](asio::cancellation_type) { read.complete(asio::error::operation_aborted, 0); };
    read.async_run(timeout(wheel, 1ms, [fail](std::error_code, std::size_t) { fail(); }));
    manual_clock::advance(1ms);
    on_threads(2, [&](int i) {
        if (i == 0) {
            while (!done) wheel.trim();
            return;
        }
        while (ran != count + 101) {
            try {
                io.restart();
                io.run();
            } catch (const std::runtime_error&) {
                ++thrown;
            }
        }
        done = true;
    });
    CHECK(thrown == count + 101);
    CHECK(wheel.trim());
}
