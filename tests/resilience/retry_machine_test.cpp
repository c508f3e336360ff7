// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a retry decides, by scripts of events: time is passed in, nothing runs.
#include <cogwheel/resilience/detail/retry_machine.hpp>

#include <asio/error.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

using namespace cogwheel;
using cogwheel::detail::retry_act;
using cogwheel::detail::retry_machine;
using cogwheel::detail::retry_step;
using namespace std::chrono_literals;

namespace {

/// Its now() may not be called.
struct forbidden_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<forbidden_clock>;
    static time_point now();
};
using scripted_policy = basic_retry_policy<forbidden_clock>;
using scripted_deadline = basic_deadline<forbidden_clock>;
using instant = forbidden_clock::time_point;

const std::error_code refused = asio::error::connection_refused;
const std::error_code denied = asio::error::access_denied;

struct retry_script {
    retry_machine<forbidden_clock> machine;
    detail::small_random random{1};
    instant now{100s};

    explicit retry_script(const scripted_policy& p) : machine(p) {}

    retry_step start() { return machine.start(now); }
    retry_step attempt_ends(const std::error_code& ec, std::chrono::nanoseconds after = 0s) {
        return machine.attempt_ended(ec, now += after, random);
    }
    retry_step wait_ends(std::chrono::nanoseconds after, const std::error_code& ec = {}) {
        return machine.wait_ended(ec, now += after);
    }
    const retry_result& result() { return machine.result(); }
};

scripted_policy plain(std::uint32_t attempts = 3) {
    scripted_policy p;
    p.attempts = attempts;
    p.backoff = backoff::exponential(1s);
    return p;
}

} // namespace

TEST_CASE("machine_first_attempt_succeeds") {
    retry_script s(plain());
    CHECK(s.start().what == retry_act::attempt);
    CHECK(s.machine.attempt().number() == 1);
    CHECK_FALSE(s.machine.attempt().last_error());
    CHECK(s.attempt_ends({}).what == retry_act::deliver);
    CHECK(s.result().attempts == 1);
    CHECK(s.result().end == retry_end::succeeded);
    CHECK_FALSE(s.result().last_error);
}

TEST_CASE("machine_waits_grow_until_the_attempts_are_used") {
    retry_script s(plain(4));
    s.start();
    for (const auto delay : {1s, 2s, 4s}) {
        const retry_step step = s.attempt_ends(refused, 10ms);
        CHECK(step.what == retry_act::wait);
        CHECK(step.delay == delay);
        CHECK(s.wait_ends(delay).what == retry_act::attempt);
        CHECK(s.machine.attempt().last_error() == refused);
    }
    CHECK(s.machine.attempt().number() == 4);
    CHECK(s.attempt_ends(asio::error::connection_reset).what == retry_act::deliver);
    CHECK(s.result().end == retry_end::attempts_used);
    CHECK(s.result().attempts == 4);
    CHECK(s.result().last_error == asio::error::connection_reset);
}

TEST_CASE("machine_single_attempt_never_waits") {
    retry_script s(plain(1));
    s.start();
    CHECK(s.attempt_ends(refused).what == retry_act::deliver);
    CHECK(s.result().end == retry_end::attempts_used);
}

TEST_CASE("machine_predicate_decides") {
    scripted_policy p = plain();
    SUBCASE("the default knows what passes") {}
    SUBCASE("the user's") {
        p.retryable = [](const std::error_code& ec) { return ec == refused; };
    }
    retry_script s(p);
    s.start();
    CHECK(s.attempt_ends(refused).what == retry_act::wait);
    s.wait_ends(1s);
    CHECK(s.attempt_ends(denied).what == retry_act::deliver);
    CHECK(s.result().end == retry_end::not_retryable);
    CHECK(s.result().attempts == 2);
    CHECK(s.result().last_error == denied);
}

TEST_CASE("machine_attempt_is_limited_by_the_sooner_of_both_limits") {
    scripted_policy p = plain(9);
    CHECK_FALSE((retry_script(p).start(), retry_script(p).machine.attempt().deadline()));
    p.attempt_timeout = 2s;
    p.deadline = scripted_deadline(instant(106s));
    retry_script s(p);
    s.start();
    CHECK(s.machine.attempt().deadline().expiry() == instant(102s));
    s.attempt_ends(asio::error::timed_out, 2s);
    s.wait_ends(1s);
    CHECK(s.machine.attempt().deadline().expiry() == instant(105s));
    s.attempt_ends(refused); // at 103
    s.wait_ends(2s);
    CHECK(s.machine.attempt().deadline().expiry() == instant(106s));
    p.attempt_timeout.reset();
    retry_script t(p);
    t.start();
    CHECK(t.machine.attempt().deadline().expiry() == instant(106s));
}

TEST_CASE("machine_attempt_timeout_of_zero_or_less_is_over_at_once") {
    for (const auto timeout : {0s, -5s}) {
        scripted_policy p = plain();
        p.attempt_timeout = timeout;
        retry_script s(p);
        CHECK(s.start().what == retry_act::attempt);
        CHECK(s.machine.attempt().deadline().expired(s.now));
    }
}

TEST_CASE("machine_deadline_that_has_come_starts_nothing") {
    scripted_policy p = plain();
    retry_budget budget;
    p.budget = &budget;
    p.deadline = scripted_deadline(instant(100s));
    retry_script s(p);
    const retry_step step = s.start();
    CHECK(step.what == retry_act::fail);
    CHECK(s.result().end == retry_end::out_of_time);
    CHECK(s.result().attempts == 0);
    CHECK_FALSE(s.result().last_error);
    CHECK(budget.stats().deposits == 0);
}

TEST_CASE("machine_wait_that_would_reach_the_deadline_is_not_begun") {
    scripted_policy p = plain();
    SUBCASE("it would end at the deadline") {
        p.deadline = scripted_deadline(instant(103s));
        retry_script s(p);
        s.start();
        CHECK(s.attempt_ends(refused, 2s).what == retry_act::deliver);
        CHECK(s.result().end == retry_end::out_of_time);
        CHECK(s.result().last_error == refused);
    }
    SUBCASE("it would end just before") {
        p.deadline = scripted_deadline(instant(103s) + 1ns);
        retry_script s(p);
        s.start();
        CHECK(s.attempt_ends(refused, 2s).what == retry_act::wait);
    }
}

TEST_CASE("machine_deadline_comes_while_attempting") {
    scripted_policy p = plain();
    p.deadline = scripted_deadline(instant(105s));
    retry_script s(p);
    s.start();
    CHECK(s.attempt_ends(asio::error::timed_out, 5s).what == retry_act::deliver);
    CHECK(s.result().end == retry_end::out_of_time);
    CHECK(s.result().attempts == 1);
}

TEST_CASE("machine_success_after_the_deadline_is_a_success") {
    scripted_policy p = plain();
    p.deadline = scripted_deadline(instant(105s));
    retry_script s(p);
    s.start();
    CHECK(s.attempt_ends({}, 6s).what == retry_act::deliver);
    CHECK(s.result().end == retry_end::succeeded);
}

TEST_CASE("machine_wait_that_ends_after_the_deadline_fails_with_the_last_error") {
    scripted_policy p = plain();
    p.deadline = scripted_deadline(instant(102s));
    retry_script s(p);
    s.start();
    CHECK(s.attempt_ends(refused).what == retry_act::wait);
    const retry_step step = s.wait_ends(3s); // a busy loop
    CHECK(step.what == retry_act::fail);
    CHECK(step.ec == refused);
    CHECK(s.result().end == retry_end::out_of_time);
    CHECK(s.result().attempts == 1);
}

TEST_CASE("machine_hint_is_a_floor_below_the_backoff") {
    retry_script s(plain(9));
    s.start();
    s.machine.attempt().retry_after(5s);
    CHECK(s.attempt_ends(refused).delay == 6s);
    s.wait_ends(6s);
    CHECK(s.attempt_ends(refused).delay == 2s); // it is for one wait
    s.wait_ends(2s);
    s.machine.attempt().retry_after(7s);
    s.machine.attempt().retry_after(3s); // the last word
    CHECK(s.attempt_ends(refused).delay == 7s);
    s.wait_ends(7s);
    s.machine.attempt().retry_after(-1h);
    CHECK(s.attempt_ends(refused).delay == 8s);
    s.wait_ends(8s);
    s.machine.attempt().retry_after(std::chrono::hours::max());
    CHECK(s.attempt_ends(refused).delay == std::chrono::nanoseconds::max());
}

TEST_CASE("machine_hint_beyond_the_deadline_ends_at_once") {
    scripted_policy p = plain();
    p.deadline = scripted_deadline(instant(110s));
    retry_script s(p);
    s.start();
    s.machine.attempt().retry_after(20s);
    CHECK(s.attempt_ends(refused).what == retry_act::deliver);
    CHECK(s.result().end == retry_end::out_of_time);
}

TEST_CASE("machine_budget_counts_first_attempts_and_retries") {
    retry_budget budget({.ratio = 0, .min_per_second = 0, .capacity = 2});
    scripted_policy p = plain(9);
    p.budget = &budget;
    retry_script s(p);
    s.start();
    CHECK(s.attempt_ends(refused).what == retry_act::wait);
    s.wait_ends(1s);
    CHECK(s.attempt_ends(refused).what == retry_act::wait);
    s.wait_ends(2s);
    CHECK(s.attempt_ends(refused).what == retry_act::deliver);
    CHECK(s.result().end == retry_end::budget);
    CHECK(s.result().attempts == 3);
    CHECK(budget.stats().deposits == 1);
    CHECK(budget.stats().granted == 2);
    CHECK(budget.stats().refused == 1);
}

TEST_CASE("machine_budget_pays_only_for_what_nothing_else_forbids") {
    retry_budget budget({.ratio = 0, .min_per_second = 0, .capacity = 5});
    scripted_policy p = plain(1);
    p.budget = &budget;
    std::error_code ec = refused;
    SUBCASE("attempts used") {}
    SUBCASE("not retryable") {
        p.attempts = 3;
        ec = denied;
    }
    SUBCASE("deadline") {
        p.attempts = 3;
        p.deadline = scripted_deadline(instant(100s) + 1ms);
    }
    SUBCASE("success") { ec = {}; }
    retry_script s(p);
    s.start();
    CHECK(s.attempt_ends(ec).what == retry_act::deliver);
    CHECK(budget.stats().granted == 0);
    CHECK(budget.stats().refused == 0);
}

TEST_CASE("machine_cancelled_makes_no_further_attempt") {
    retry_script s(plain());
    s.start();
    SUBCASE("while attempting, which fails") {
        s.machine.cancel();
        CHECK(s.attempt_ends(refused).what == retry_act::fail);
        CHECK(s.result().last_error == refused);
        CHECK(s.result().end == retry_end::cancelled);
    }
    SUBCASE("while attempting, which succeeds all the same") {
        s.machine.cancel();
        CHECK(s.attempt_ends({}).what == retry_act::deliver);
        CHECK(s.result().end == retry_end::succeeded);
    }
    SUBCASE("while waiting, the wait is aborted") {
        s.attempt_ends(refused);
        s.machine.cancel();
        CHECK(s.wait_ends(0s, asio::error::operation_aborted).what == retry_act::fail);
        CHECK(s.result().last_error == refused);
        CHECK(s.result().end == retry_end::cancelled);
    }
    SUBCASE("while waiting, the wait had just expired") {
        s.attempt_ends(refused);
        s.machine.cancel();
        CHECK(s.wait_ends(1s).what == retry_act::fail);
        CHECK(s.result().end == retry_end::cancelled);
    }
    CHECK(s.result().attempts == 1);
}

TEST_CASE("machine_cancelled_by_its_predicate_does_not_wait") {
    retry_budget budget;
    retry_machine<forbidden_clock>* machine = nullptr;
    scripted_policy p = plain();
    p.budget = &budget;
    p.retryable = [&](const std::error_code&) {
        machine->cancel();
        return true;
    };
    retry_script s(p);
    machine = &s.machine;
    s.start();
    CHECK(s.attempt_ends(refused).what == retry_act::fail);
    CHECK(s.result().end == retry_end::cancelled);
    CHECK(budget.stats().granted == 0);
}

TEST_CASE("machine_wheel_takes_no_timer_ends_with_its_error") {
    scripted_policy p = plain();
    p.retryable = [](const std::error_code&) { return true; };
    for (const std::error_code ec : {make_error_code(errc::stopped), make_error_code(errc::too_many_timers)}) {
        retry_script attempting(p);
        attempting.start();
        CHECK(attempting.attempt_ends(ec).what == retry_act::deliver);
        CHECK(attempting.result().end == retry_end::wheel);
        retry_script waiting(p);
        waiting.start();
        waiting.attempt_ends(refused);
        const retry_step step = waiting.wait_ends(0s, ec);
        CHECK(step.what == retry_act::fail);
        CHECK(step.ec == ec);
        CHECK(waiting.result().end == retry_end::wheel);
        CHECK(waiting.result().last_error == refused);
    }
    retry_script elsewhere(p);
    elsewhere.start();
    CHECK(elsewhere.attempt_ends(errc::circuit_open).what == retry_act::wait); // not of the wheel
}

TEST_CASE("machine_predicate_that_throws_leaves_the_counts_right") {
    retry_budget budget;
    scripted_policy p = plain();
    p.budget = &budget;
    p.retryable = [](const std::error_code&) -> bool { throw std::runtime_error("predicate"); };
    retry_script s(p);
    s.start();
    CHECK_THROWS_AS(s.attempt_ends(refused), std::runtime_error);
    CHECK(s.machine.give_up().what == retry_act::deliver);
    CHECK(s.result().attempts == 1);
    CHECK(s.result().last_error == refused);
    CHECK(s.result().end == retry_end::not_retryable);
    CHECK(budget.stats().granted == 0);
}

TEST_CASE("machine_decorrelated_jitter_remembers_what_was_waited") {
    scripted_policy p = plain(50);
    p.backoff = backoff::exponential(1s).cap(1h).jitter(backoff_jitter::decorrelated);
    retry_script s(p);
    s.start();
    std::chrono::nanoseconds before = 1s, longest = 0s;
    for (int i = 0; i < 20; ++i) {
        s.machine.attempt().retry_after(2h); // plays no part
        const auto delay = s.attempt_ends(refused).delay - 2h;
        CHECK(delay >= 1s);
        CHECK(delay <= 3 * before);
        before = delay;
        longest = std::max(longest, delay);
        s.wait_ends(delay + 2h);
    }
    CHECK(longest > 3s); // the first one cannot be
}

TEST_CASE("machine_last_possible_delay_does_not_overflow") {
    scripted_policy p = plain();
    p.backoff = backoff::constant(std::chrono::nanoseconds::max());
    retry_script s(p);
    s.start();
    CHECK(s.attempt_ends(refused).delay == std::chrono::nanoseconds::max());
    p.deadline = scripted_deadline(instant::max() - 1ns);
    retry_script t(p);
    t.start();
    CHECK(t.attempt_ends(refused).what == retry_act::deliver);
}
