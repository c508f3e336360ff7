// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Many retries on several threads, each on a strand, sharing a wheel and a budget: each completes exactly once, and the
// counts add up. Time is turned by the test.
#include "support/resilience/retry_rig.hpp"
#include "support/threads.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>

#include <atomic>
#include <deque>
#include <thread>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct retry_tally {
    std::atomic<int> completed{0}, succeeded{0}, cancelled{0};
    std::atomic<std::uint64_t> attempts{0}, started{0};

    void count(std::error_code ec, const retry_result& result) {
        attempts += result.attempts;
        if (!ec) ++succeeded;
        if (result.end == retry_end::cancelled) ++cancelled;
        ++completed;
    }
};

/// Fails until its third attempt.
auto third_time_lucky(asio::io_context& io, retry_tally& t) {
    return [&io, &t](virtual_attempt& attempt, auto token) {
        ++t.started;
        const auto ec = attempt.number() < 3 ? std::error_code(asio::error::eof) : std::error_code();
        return async_quick_read(io, ends::posted, ec, 1, token);
    };
}

void turn_until(const std::atomic<int>& completed, int all) {
    while (completed < all) {
        manual_clock::advance(1ms);
        std::this_thread::yield();
    }
}

virtual_policy jittered(retry_budget& budget, bool limited) {
    virtual_policy p = doubling(3);
    p.backoff = backoff::exponential(5ms).jitter(backoff_jitter::full);
    p.budget = &budget;
    if (limited) p.attempt_timeout = 1h;
    return p;
}

constexpr int retries = 600;
const retry_budget_options plenty{.ratio = 10, .min_per_second = 1e6, .capacity = 1e6};

} // namespace

TEST_CASE("threads_retries_on_strands_started_from_outside_complete_once") {
    asio::io_context io;
    retry_tally t;
    retry_budget budget(plenty);
    runners threads(io, 4);
    manual_timer_wheel wheel(io, {.tick = 1ms});
    for (int i = 0; i < retries; ++i)
        async_retry(wheel, jittered(budget, i % 2 == 0), third_time_lucky(io, t),
                    asio::bind_executor(asio::make_strand(io), [&](std::error_code ec, const retry_result& result,
                                                                   std::size_t) { t.count(ec, result); }));
    turn_until(t.completed, retries);
    CHECK(t.succeeded == retries);
    CHECK(t.attempts == 3 * retries);
    CHECK(t.started == 3 * retries);
    CHECK(budget.stats().deposits == retries);
    CHECK(budget.stats().granted == 2 * retries);
    CHECK(wheel.pending() == 0);
    CHECK(counts_agree(wheel.stats()));
}

TEST_CASE("threads_retries_without_a_strand_go_on_one_step_after_the_other") {
    asio::io_context io;
    retry_tally t;
    retry_budget budget(plenty);
    runners threads(io, 4);
    manual_timer_wheel wheel(io, {.tick = 1ms});
    for (int i = 0; i < retries; ++i)
        async_retry(wheel, jittered(budget, i % 2 == 0), third_time_lucky(io, t),
                    [&](std::error_code ec, const retry_result& result, std::size_t) { t.count(ec, result); });
    turn_until(t.completed, retries);
    CHECK(t.succeeded == retries);
    CHECK(t.started == 3 * retries);
    CHECK(counts_agree(wheel.stats()));
}

TEST_CASE("threads_coroutines_on_strands_complete_once") {
    asio::io_context io;
    retry_tally t;
    retry_budget budget(plenty);
    runners threads(io, 4);
    manual_timer_wheel wheel(io, {.tick = 1ms});
    for (int i = 0; i < retries; ++i)
        asio::co_spawn(
            asio::make_strand(io),
            [&, i]() -> asio::awaitable<void> {
                const auto [result, n] = co_await async_retry(wheel, jittered(budget, i % 2 == 0),
                                                              third_time_lucky(io, t), asio::use_awaitable);
                t.count({}, result);
            },
            [](const std::exception_ptr& e) { CHECK_FALSE(e); });
    turn_until(t.completed, retries);
    CHECK(t.attempts == 3 * retries);
    CHECK(budget.stats().granted == 2 * retries);
    CHECK(counts_agree(wheel.stats()));
}

TEST_CASE("threads_retries_cancelled_on_their_strands_at_any_moment_complete_once") {
    asio::io_context io;
    retry_tally t;
    retry_budget budget(plenty);
    struct client {
        asio::strand<asio::io_context::executor_type> strand;
        asio::cancellation_signal signal{};

        explicit client(asio::io_context& c) : strand(asio::make_strand(c)) {}
    };
    std::deque<client> clients; // outlive the threads, on which emissions may come late
    runners threads(io, 4);
    manual_timer_wheel wheel(io, {.tick = 1ms});
    for (int i = 0; i < retries; ++i) {
        client& c = clients.emplace_back(io);
        asio::post(c.strand, [&, i] {
            async_retry(
                wheel, jittered(budget, i % 2 == 0), third_time_lucky(io, t),
                asio::bind_cancellation_slot(
                    c.signal.slot(), asio::bind_executor(c.strand, [&](std::error_code ec, const retry_result& result,
                                                                       std::size_t) { t.count(ec, result); })));
        });
        for (int n = 0; n < i % 5; ++n) manual_clock::advance(1ms);
        if (i >= 10)
            asio::post(clients[static_cast<std::size_t>(i - 10)].strand,
                       [&old = clients[static_cast<std::size_t>(i - 10)]] {
                           old.signal.emit(asio::cancellation_type::terminal);
                       });
    }
    turn_until(t.completed, retries);
    CHECK(t.succeeded + t.cancelled == retries);
    CHECK(t.attempts == t.started);
    CHECK(wheel.pending() == 0);
    CHECK(counts_agree(wheel.stats()));
}
