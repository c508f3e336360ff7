// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a hedge runs, and many of them on several threads: each on a strand, or their attempts at the same moment.
#include "support/resilience/hedge_rig.hpp"
#include "support/threads.hpp"

#include <asio/async_result.hpp>
#include <asio/bind_executor.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("hedge_all_runs_on_the_handlers_strand", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    auto strand = asio::make_strand(r.io);
    int called = 0;
    r.reads[1].on_start = [&] { CHECK(strand.running_in_this_thread()); };
    r.start({.delay = 30ms}, asio::bind_executor(strand, [&](std::error_code, const hedge_result&, std::size_t) {
                CHECK(strand.running_in_this_thread());
                ++called;
            }));
    r.pass(40ms);
    r.reads[0].on_cancel = [&](asio::cancellation_type) {
        CHECK(strand.running_in_this_thread());
        r.reads[0].complete(asio::error::operation_aborted, 0);
    };
    r.ends(2, {}, 1);
    CHECK(called == 1);
}

TEST_CASE("threads_hedges_on_strands_complete_once") {
    asio::io_context io;
    constexpr int hedges = 500;
    std::atomic<int> completed{0}, by_first{0}, by_second{0};
    std::atomic<std::uint32_t> started{0}, reported{0};
    runners threads(io, 4);
    manual_timer_wheel wheel(io, {.tick = 1ms});
    for (int i = 0; i < hedges; ++i) {
        // Every other first attempt hangs; the rest take 0 .. 9 ms against a hedge after 3 ms: one, the other, or both
        // at a time.
        const auto operation = [&, i](hedge_attempt& attempt, auto token) {
            ++started;
            const bool hangs = i % 2 == 1 && attempt.number() == 1;
            const auto takes = ((i * 7 + static_cast<int>(attempt.number()) * 3) % 10) * 1ms;
            return wheel.async_wait(hangs ? std::chrono::milliseconds(1000h) : takes, token);
        };
        async_hedge(wheel, 3ms, operation,
                    asio::bind_executor(asio::make_strand(io), [&](std::error_code ec, const hedge_result& result) {
                        CHECK_FALSE(ec);
                        reported += result.attempts;
                        ++(result.winner == 1 ? by_first : by_second);
                        ++completed;
                    }));
    }
    while (completed < hedges) {
        manual_clock::advance(1ms);
        std::this_thread::yield();
    }
    CHECK(started == reported);
    CHECK(by_first + by_second == hedges);
    CHECK(by_first > 0);
    CHECK(by_second >= hedges / 2);
    CHECK(wheel.pending() == 0);
    CHECK(counts_agree(wheel.stats()));
}

// The thread sanitizer sees whether the one that lets go first still reads what the other one frees.
TEST_CASE("threads_attempts_that_end_at_once_complete_their_hedge_once") {
    asio::io_context io;
    constexpr int rounds = 40, hedges = 50;
    std::atomic<int> completed{0};
    // The attempts of one hedge, of which the second one starts when the first one is there.
    struct pair {
        std::array<std::function<void()>, 2> ends;
        std::atomic<int> arrived{0};
    };
    runners threads(io, 4);
    manual_timer_wheel wheel(io, {.tick = 1ms});
    for (int round = 0; round < rounds; ++round) {
        std::vector<pair> pairs(hedges);
        for (pair& p : pairs) {
            const auto operation = [&](hedge_attempt& attempt, auto token) {
                return asio::async_initiate<decltype(token), void(std::error_code)>(
                    [&, number = attempt.number()](auto handler) {
                        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
                        p.ends.at(number - 1) = [shared] { std::move (*shared)(std::error_code()); };
                        if (number != 2) return;
                        for (auto& end : p.ends)
                            asio::post(io, [&p, &end] {
                                const auto call = std::move(end);
                                ++p.arrived;
                                // Not for ever: the other one may wait for this thread.
                                for (int look = 0; look < 100'000 && p.arrived != 2; ++look) std::this_thread::yield();
                                call();
                            });
                    },
                    token);
            };
            async_hedge(wheel, {.delay = 1ms, .attempts = 2}, operation, [&](std::error_code ec, const hedge_result&) {
                CHECK_FALSE(ec);
                ++completed;
            });
        }
        ask_until([&] {
            manual_clock::advance(1ms);
            return completed == (round + 1) * hedges;
        });
    }
    CHECK(wheel.pending() == 0);
    CHECK(counts_agree(wheel.stats()));
}
