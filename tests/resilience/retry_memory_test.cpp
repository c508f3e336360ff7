// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a retry costs in memory: one block, from the handler's allocator, and free again before the handler runs.
#include "support/resilience/retry_rig.hpp"

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using allocator = tracking_allocator<char>;

/// What is moved from has no allocator any more. (Asio's post() may ask it all the same: not for what is posted.)
struct owning_handler {
    using allocator_type = allocator;

    allocation_log* log;
    retry_outcome* out;
    std::unique_ptr<allocator> own = std::make_unique<allocator>(*log);

    allocator_type get_allocator() const noexcept { return *own; }
    void operator()(std::error_code ec, const retry_result& result, std::size_t n) {
        CHECK(log->live == 0);
        out->handler()(ec, result, n);
    }
};

} // namespace

TEST_CASE_TEMPLATE("retry_of_many_attempts_and_waits_is_one_allocation", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    allocation_log log;
    retry_outcome out;
    r.start(doubling(8), owning_handler{&log, &out});
    CHECK(log.allocations == 1);
    const std::size_t size = log.live;
    for (int i = 0; i < 7; ++i) {
        r.attempt_fails();
        CHECK(log.live == size);
        r.pass(1h);
    }
    r.attempt_fails();
    CHECK(out.times == 1);
    CHECK(out.result.attempts == 8);
    CHECK(log.allocations == 1);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("retry_with_limits_is_one_more_an_attempt_and_nothing_stays", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    allocation_log log;
    retry_outcome out;
    virtual_policy p = doubling();
    p.attempt_timeout = 1s;
    r.start(p, owning_handler{&log, &out});
    CHECK(log.allocations == 2);
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_ends({}, 1);
    CHECK(out.times == 1);
    CHECK(log.allocations == 3);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("retry_memory_is_free_before_the_handler_runs_whatever_the_end", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    allocation_log log;
    retry_outcome out;
    asio::cancellation_signal signal;
    virtual_policy p = doubling();
    bool over = false;
    SUBCASE("never started") {
        p.deadline = virtual_deadline::after(0s);
        over = true;
    }
    SUBCASE("cancelled while waiting") {}
    // Bound outside: the slot's own memory is no business of ours.
    r.start(p, asio::bind_cancellation_slot(signal.slot(), logging_handler{&out, &log}));
    if (!over) {
        r.attempt_fails();
        signal.emit(asio::cancellation_type::terminal);
    }
    // What is posted lives in the handler's memory until it is called: asio frees it first.
    r.run();
    CHECK(out.times == 1);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("retry_without_memory_throws_and_starts_nothing", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    allocation_log log;
    retry_outcome out;
    log.fail = true;
    CHECK_THROWS_AS(r.start(doubling(), owning_handler{&log, &out}), std::bad_alloc);
    CHECK(r.read.started == 0);
    r.run();
    CHECK(out.times == 0);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("retry_without_memory_for_a_limit_is_a_failed_attempt", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    allocation_log log;
    retry_outcome out;
    virtual_policy p = doubling();
    p.attempt_timeout = 1s;
    p.retryable = [](const std::error_code& ec) { return ec == std::errc::not_enough_memory; };
    r.start(p, owning_handler{&log, &out});
    r.attempt_ends(std::make_error_code(std::errc::not_enough_memory));
    log.fail = true;
    r.pass(110ms);
    CHECK(r.read.started == 1);
    log.fail = false;
    r.pass(210ms);
    CHECK(r.read.started == 2);
    r.attempt_ends({}, 1);
    CHECK(out.times == 1);
    CHECK_FALSE(out.ec);
    CHECK(out.result.attempts == 3);
    CHECK(log.live == 0);
}

TEST_CASE("retry_operation_may_use_the_handlers_allocator") {
    retry_rig<manual_timer_wheel> r;
    allocation_log log;
    retry_outcome out;
    for (const bool limited : {false, true}) {
        virtual_policy p = doubling();
        if (limited) p.attempt_timeout = 1s;
        bool same = false;
        async_retry(
            r.wheel, p,
            [&](auto token) {
                return asio::async_initiate<decltype(token), void(std::error_code, std::size_t)>(
                    [&](auto handler) {
                        same = asio::get_associated_allocator(handler) == allocator(log);
                        r.read.async_run(std::move(handler));
                    },
                    token);
            },
            owning_handler{&log, &out});
        CHECK(same);
        r.attempt_ends({}, 1);
    }
    CHECK(out.times == 2);
}
