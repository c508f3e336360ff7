// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A circuit breaker on the wheel: half open when its time is over, told to an observer, without a timer while it is
// closed.
#include "support/asio/scripted_operation.hpp"
#include "support/threads.hpp"

#include <cogwheel/resilience/circuit_breaker.hpp>
#include <cogwheel/resilience/retry.hpp>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

static_assert(std::same_as<decltype(circuit_breaker(std::declval<const local_timer_wheel&>())),
                           circuit_breaker<local_timer_wheel>>);

namespace {

template <class Wheel>
struct breaker_rig {
    asio::io_context io;
    Wheel wheel{io};
    std::vector<circuit_state> told;

    auto observer() {
        return [this](circuit_state s) { told.push_back(s); };
    }
    void pass(std::chrono::nanoseconds by) { cogwheel_tests::pass(io, by); }
};

} // namespace

TEST_CASE_TEMPLATE("breaker_timer_pending_only_while_open", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 2}, r.observer());
    breaker.allow().failed();
    CHECK(breaker.state() == circuit_state::closed);
    CHECK(r.wheel.pending() == 0);
    breaker.allow().failed();
    CHECK(breaker.state() == circuit_state::open);
    CHECK(r.wheel.pending() == 1);
    CHECK_FALSE(breaker.allow());
    r.pass(4990ms);
    CHECK(breaker.state() == circuit_state::open);
    r.pass(20ms); // without any call
    CHECK(breaker.state() == circuit_state::half_open);
    CHECK(r.wheel.pending() == 0);
    auto probe = breaker.allow();
    CHECK(probe);
    CHECK_FALSE(breaker.allow());
    probe.succeeded();
    CHECK(breaker.state() == circuit_state::closed);
    CHECK(r.told == std::vector<circuit_state>{circuit_state::open, circuit_state::half_open, circuit_state::closed});
    CHECK(breaker.stats().allowed == 3);
    CHECK(breaker.stats().refused == 2);
}

TEST_CASE_TEMPLATE("breaker_probe_fails_open_again_with_a_new_timer", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1}, r.observer());
    breaker.allow().failed();
    r.pass(5010ms);
    breaker.allow().failed();
    CHECK(breaker.state() == circuit_state::open);
    CHECK(r.wheel.pending() == 1);
    r.pass(5010ms);
    CHECK(breaker.state() == circuit_state::half_open);
    CHECK(r.told.size() == 4);
}

TEST_CASE_TEMPLATE("breaker_call_destroyed_without_a_verdict_frees_its_place", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1});
    breaker.allow().failed();
    r.pass(5010ms);
    {
        auto probe = breaker.allow();
        CHECK(probe);
        auto moved = std::move(probe);
        CHECK_FALSE(probe);
        CHECK_FALSE(breaker.allow());
        moved = breaker.allow(); // refused: the probe is given up for it
        CHECK_FALSE(moved);
    }
    CHECK(breaker.allow());
    CHECK(breaker.stats().abandoned == 2);
    CHECK(breaker.state() == circuit_state::half_open);
}

TEST_CASE("breaker_verdict_by_an_error_code") {
    breaker_rig<manual_timer_wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 2});
    breaker.allow().ended({});
    breaker.allow().ended(asio::error::operation_aborted);
    breaker.allow().ended(asio::error::timed_out);
    breaker.allow().ended(std::make_error_code(std::errc::operation_canceled));
    CHECK(breaker.stats().succeeded == 1);
    CHECK(breaker.stats().abandoned == 2);
    CHECK(breaker.stats().failed == 1);
    breaker.allow().ended(asio::error::eof);
    CHECK(breaker.state() == circuit_state::open);
}

TEST_CASE_TEMPLATE("breaker_probe_that_hangs_the_next_calls_open_it_and_try_again", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1, .probe_timeout = 10s}, r.observer());
    breaker.allow().failed();
    r.pass(5010ms);
    auto hanging = breaker.allow();
    CHECK(hanging);
    r.pass(10s);
    CHECK_FALSE(breaker.allow());
    CHECK(breaker.state() == circuit_state::open);
    CHECK(r.wheel.pending() == 1);
    r.pass(5010ms);
    CHECK(breaker.state() == circuit_state::half_open);
    hanging.failed(); // changes nothing any more
    breaker.allow().succeeded();
    using enum circuit_state;
    CHECK(r.told == std::vector{open, half_open, open, half_open, closed});
    CHECK(breaker.stats().late == 1);
}

TEST_CASE_TEMPLATE("breaker_closed_by_hand_its_timer_is_gone", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1}, r.observer());
    breaker.allow().failed();
    breaker.close();
    CHECK(breaker.state() == circuit_state::closed);
    CHECK(r.wheel.pending() == 0);
    breaker.close(); // is closed
    CHECK(r.told == std::vector<circuit_state>{circuit_state::open, circuit_state::closed});
}

TEST_CASE_TEMPLATE("breaker_destroyed_while_open_nobody_is_told", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    std::optional<circuit_breaker<Wheel>> breaker(std::in_place, r.wheel,
                                                  circuit_breaker_options{.failures_in_a_row = 2}, r.observer());
    auto early = breaker->allow();
    auto late = breaker->allow();
    breaker->allow().failed();
    SUBCASE("its timer goes with it") {
        early.failed();
        CHECK(r.wheel.pending() == 1);
        breaker.reset();
    }
    SUBCASE("a call in flight may still end, and open it") {
        breaker.reset();
        r.told = {circuit_state::open};
        early.failed();
    }
    CHECK(r.wheel.pending() == 0);
    late.succeeded();
    r.pass(1h);
    CHECK(r.told == std::vector<circuit_state>{circuit_state::open});
}

TEST_CASE_TEMPLATE("breaker_wheel_takes_no_timer_the_next_call_finds_out", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    std::optional<Wheel> wheel(std::in_place, io, wheel_options{.max_pending = 1});
    circuit_breaker breaker(*wheel, {.failures_in_a_row = 1});
    SUBCASE("full") {
        wheel->schedule(1h, [] {});
    }
    SUBCASE("stopped") { wheel->stop(); }
    SUBCASE("gone") { wheel.reset(); }
    breaker.allow().failed();
    CHECK(breaker.state() == circuit_state::open);
    pass(io, 4990ms);
    CHECK_FALSE(breaker.allow());
    pass(io, 20ms);
    CHECK(breaker.allow());
    CHECK(breaker.state() == circuit_state::half_open);
}

TEST_CASE_TEMPLATE("breaker_all_timers_cancelled_the_next_call_finds_out", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1});
    breaker.allow().failed();
    r.wheel.cancel_all();
    r.pass(5010ms);
    CHECK(breaker.state() == circuit_state::open);
    CHECK(breaker.allow());
}

TEST_CASE_TEMPLATE("breaker_observer_may_use_the_breaker_and_throw", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    std::optional<circuit_breaker<Wheel>> breaker;
    std::vector<circuit_state> seen;
    breaker.emplace(r.wheel, circuit_breaker_options{.failures_in_a_row = 1}, [&](circuit_state s) {
        seen.push_back(breaker->state());
        CHECK(seen.back() == s);
        CHECK(static_cast<bool>(breaker->allow()) == (s != circuit_state::open));
        throw std::runtime_error("observer");
    });
    auto call = breaker->allow();
    CHECK_THROWS_AS(call.failed(), std::runtime_error);
    CHECK_FALSE(call); // it has ended
    CHECK(r.wheel.pending() == 1);
    CHECK_THROWS_AS(r.pass(5010ms), std::runtime_error);
    CHECK(breaker->state() == circuit_state::half_open);
    call = breaker->allow();
    CHECK_THROWS_AS(call.succeeded(), std::runtime_error);
    CHECK(breaker->state() == circuit_state::closed);
    CHECK(seen.size() == 3);
    const circuit_stats s = breaker->stats();
    CHECK(s.allowed == s.succeeded + s.failed + s.abandoned);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE_TEMPLATE("breaker_observer_that_throws_at_a_probe_leaves_room_for_the_next", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    bool throws = true;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1}, [&](circuit_state s) {
        if (s == circuit_state::half_open && throws) throw std::runtime_error("observer");
    });
    breaker.allow().failed();
    manual_clock::advance(5010ms); // and no turn of the wheel
    CHECK_THROWS_AS(static_cast<void>(breaker.allow()), std::runtime_error);
    CHECK(breaker.state() == circuit_state::half_open);
    throws = false;
    auto probe = breaker.allow();
    REQUIRE(probe);
    probe.succeeded();
    CHECK(breaker.state() == circuit_state::closed);
    const circuit_stats s = breaker.stats();
    CHECK(s.allowed == 3);
    CHECK(s.abandoned == 1);
    CHECK(s.allowed == s.succeeded + s.failed + s.abandoned);
}

TEST_CASE("breaker_clock_turned_back_stays_open_and_sets_its_timer_anew") {
    breaker_rig<manual_timer_wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1});
    breaker.allow().failed();
    r.pass(-1h);
    r.pass(1h + 5010ms);
    CHECK(breaker.state() == circuit_state::half_open);
}

TEST_CASE_TEMPLATE("breaker_clock_turned_back_before_its_timer_runs_sets_another", Wheel, BOTH_WHEELS) {
    breaker_rig<Wheel> r;
    [[maybe_unused]] const auto back = r.wheel.schedule(5s, [] { manual_clock::advance(-1s); });
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 1}, r.observer());
    breaker.allow().failed();
    r.pass(5010ms); // both in one turn
    CHECK(breaker.state() == circuit_state::open);
    CHECK(r.wheel.pending() == 1);
    r.pass(1010ms);
    CHECK(breaker.state() == circuit_state::half_open);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("breaker_bad_options_are_refused") {
    breaker_rig<manual_timer_wheel> r;
    CHECK_THROWS_AS(circuit_breaker(r.wheel, {.probes = 0}), std::invalid_argument);
}

TEST_CASE("breaker_shared_by_threads_its_counts_add_up") {
    asio::io_context io;
    std::atomic<std::uint64_t> told{0};
    std::atomic<bool> done{false};
    runners threads(io, 2);
    manual_timer_wheel wheel(io, {.tick = 1ms});
    std::thread turning([&] {
        while (!done) {
            manual_clock::advance(1ms);
            std::this_thread::yield();
        }
    });
    std::atomic<std::uint64_t> allowed{0}, refused{0};
    circuit_stats s;
    {
        circuit_breaker breaker(
            wheel,
            {.failures_in_a_row = 3, .open_for = backoff::constant(2ms).jitter(backoff_jitter::equal), .probes = 2},
            [&](circuit_state) { ++told; });
        on_threads(3, [&](int id) {
            for (int i = 0; i < 3000; ++i) {
                auto call = breaker.allow();
                ++(call ? allowed : refused);
                if (!call) continue;
                if ((i + id) % 5 == 0)
                    call.succeeded();
                else if ((i + id) % 7 != 0)
                    call.failed();
            }
        });
        s = breaker.stats();
    }
    done = true;
    turning.join();
    CHECK(s.allowed == allowed);
    CHECK(s.refused == refused);
    CHECK(s.allowed == s.succeeded + s.failed + s.abandoned);
    CHECK(told >= s.opened);
    CHECK(s.opened > 0);
}

TEST_CASE("breaker_call_cancelled_after_its_deadline_has_failed") {
    breaker_rig<manual_timer_wheel> r;
    circuit_breaker breaker(r.wheel);
    const auto until = basic_deadline<manual_clock>::after(5s);
    const std::error_code cancelled = asio::error::operation_aborted;
    breaker.allow().ended(cancelled, until);
    breaker.allow().ended(cancelled, {}); // which never passes
    CHECK(breaker.stats().abandoned == 2);
    r.pass(5s);
    breaker.allow().ended({}, until);
    CHECK(breaker.stats().succeeded == 1);
    breaker.allow().ended(cancelled, until);
    breaker.allow().ended(asio::error::connection_reset, until);
    CHECK(breaker.stats().failed == 2);
    CHECK(breaker.stats().abandoned == 2);
}

TEST_CASE("breaker_opens_for_a_server_that_does_not_answer_the_attempts_of_a_retry") {
    breaker_rig<manual_timer_wheel> r;
    circuit_breaker breaker(r.wheel, {.failures_in_a_row = 3});
    basic_retry_policy<manual_clock> policy{.attempts = 5, .attempt_timeout = 2s};
    policy.backoff = backoff::constant(1s);
    const auto silent = [&](basic_retry_attempt<manual_clock>& attempt) -> asio::awaitable<void> {
        auto call = breaker.allow();
        if (!call) throw std::system_error(errc::circuit_open);
        std::error_code ec;
        co_await r.wheel.async_wait(1h, asio::redirect_error(asio::use_awaitable, ec));
        call.ended(ec, attempt.deadline());
        if (ec) throw std::system_error(ec);
    };
    retry_result result;
    async_retry(r.wheel, policy, silent, [&](std::exception_ptr, const retry_result& how) { result = how; });
    for (int s = 0; s < 20; ++s) r.pass(1s);
    CHECK(result.attempts == 4);
    CHECK(result.last_error == errc::circuit_open);
    CHECK(result.end == retry_end::not_retryable);
    CHECK(breaker.stats().failed == 3);
    CHECK(breaker.stats().abandoned == 0);
}
