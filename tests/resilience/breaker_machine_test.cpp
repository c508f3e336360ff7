// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a circuit breaker decides, by scripts of events: time is passed in, nothing runs.
#include "support/constant_names.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

#include <cogwheel/resilience/detail/breaker_machine.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace cogwheel;
using cogwheel::detail::breaker_machine;
using cogwheel::detail::verdict;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct breaker_script {
    breaker_machine machine;
    detail::small_random random{1};
    std::chrono::nanoseconds now = 100s;

    explicit breaker_script(const circuit_breaker_options& options = {}) : machine(options) {}

    void ends(verdict v, std::uint64_t generation) { machine.ended(v, generation, now, random); }
    void call(verdict v) {
        REQUIRE(machine.allow(now, random));
        ends(v, machine.generation());
    }
    void fail(int times) {
        for (int i = 0; i < times; ++i) call(verdict::failed);
    }
    bool allow_after(std::chrono::nanoseconds by) { return machine.allow(now += by, random); }
    circuit_state state() const { return machine.state(); }
};

struct throwing_random {
    using result_type = std::uint64_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()() { throw std::runtime_error("random"); }
};

std::string refusal(const circuit_breaker_options& options) {
    return refusal_of([&] { options.validate(); });
}

} // namespace

TEST_CASE("circuit_state_has_names") {
    check_names<circuit_state>(
        {{circuit_state::closed, "closed"}, {circuit_state::open, "open"}, {circuit_state::half_open, "half_open"}});
}

TEST_CASE("breaker_opens_at_the_last_of_so_many_failures_in_a_row") {
    breaker_script s({.failures_in_a_row = 3});
    s.fail(2);
    CHECK(s.state() == circuit_state::closed);
    s.call(verdict::succeeded); // the row begins anew
    s.fail(2);
    CHECK(s.state() == circuit_state::closed);
    s.call(verdict::abandoned); // says nothing
    s.fail(1);
    CHECK(s.state() == circuit_state::open);
    CHECK(s.machine.stats().opened == 1);
    CHECK(s.machine.open_until() == 105s);
}

TEST_CASE("breaker_open_refuses_until_its_time_is_over") {
    breaker_script s({.failures_in_a_row = 1});
    s.fail(1);
    CHECK_FALSE(s.allow_after(0s));
    CHECK_FALSE(s.allow_after(4999ms));
    CHECK(s.machine.stats().refused == 2);
    CHECK(s.allow_after(1ms));
    CHECK(s.state() == circuit_state::half_open);
}

TEST_CASE("breaker_elapsed_by_the_timer_no_sooner_than_it_should") {
    breaker_script s({.failures_in_a_row = 1});
    CHECK_FALSE(s.machine.elapsed(1h)); // closed
    s.fail(1);
    CHECK_FALSE(s.machine.elapsed(104999ms));
    CHECK(s.state() == circuit_state::open);
    CHECK(s.machine.elapsed(105s));
    CHECK(s.state() == circuit_state::half_open);
    CHECK_FALSE(s.machine.elapsed(200s));
}

TEST_CASE("breaker_half_open_lets_so_many_probes_pass_at_once") {
    breaker_script s({.failures_in_a_row = 1, .probes = 2, .probes_to_close = 5});
    s.fail(1);
    CHECK(s.allow_after(5s));
    CHECK(s.allow_after(0s));
    CHECK_FALSE(s.allow_after(0s));
    const auto g = s.machine.generation();
    s.ends(verdict::succeeded, g); // one place is free
    CHECK(s.allow_after(0s));
    CHECK_FALSE(s.allow_after(0s));
    s.ends(verdict::abandoned, g); // another one, without a verdict
    CHECK(s.allow_after(0s));
    CHECK_FALSE(s.allow_after(0s));
    CHECK(s.state() == circuit_state::half_open);
    for (int i = 0; i < 4; ++i) {
        s.ends(verdict::succeeded, g);
        if (i < 3) s.allow_after(0s);
    }
    CHECK(s.state() == circuit_state::closed);
}

TEST_CASE("breaker_half_open_starts_no_more_probes_than_it_takes_to_close") {
    breaker_script s({.failures_in_a_row = 1, .probes = 10, .probes_to_close = 3});
    s.fail(1);
    CHECK(s.allow_after(5s));
    CHECK(s.allow_after(0s));
    CHECK(s.allow_after(0s));
    CHECK_FALSE(s.allow_after(0s));
    const auto g = s.machine.generation();
    s.ends(verdict::succeeded, g);
    CHECK_FALSE(s.allow_after(0s)); // one has passed, two are under way
    s.ends(verdict::abandoned, g);
    CHECK(s.allow_after(0s));
}

TEST_CASE("breaker_probe_that_fails_opens_it_again_for_longer") {
    breaker_script s({.failures_in_a_row = 1, .open_for = backoff::exponential(5s).cap(20s)});
    s.fail(1);
    for (const auto pause : {5s, 10s, 20s, 20s}) {
        CHECK(s.machine.open_until() == s.now + pause);
        CHECK(s.allow_after(pause));
        s.ends(verdict::failed, s.machine.generation());
        CHECK(s.state() == circuit_state::open);
    }
    CHECK(s.allow_after(20s));
    s.ends(verdict::succeeded, s.machine.generation());
    CHECK(s.state() == circuit_state::closed);
    s.fail(1);
    CHECK(s.machine.open_until() == s.now + 5s); // the first pause again
    CHECK(s.machine.stats().opened == 6);
}

TEST_CASE("breaker_probe_that_hangs_opens_it_again_when_its_time_is_over") {
    breaker_script s({.failures_in_a_row = 1, .open_for = backoff::exponential(1s), .probe_timeout = 10s});
    s.fail(1);
    for (int round = 0; round < 3; ++round) { // after 1, 2 and 4 s
        const std::chrono::nanoseconds pause = 1s * (1 << round);
        if (round == 0) s.now += pause;
        REQUIRE(s.allow_after(0s)); // the probe hangs
        const std::uint64_t probe = s.machine.generation();
        CHECK_FALSE(s.allow_after(10s - 1ns));
        CHECK(s.state() == circuit_state::half_open);
        CHECK_FALSE(s.allow_after(1ns));
        CHECK(s.state() == circuit_state::open);
        CHECK(s.machine.open_until() == s.now + 2 * pause);
        s.ends(verdict::succeeded, probe); // long after that
        CHECK(s.state() == circuit_state::open);
        s.now += 2 * pause;
    }
    CHECK(s.machine.stats().late == 3);
    CHECK(s.machine.stats().opened == 4);
}

TEST_CASE("breaker_probe_that_hung_long_ago_the_next_call_is_a_probe") {
    breaker_script s({.failures_in_a_row = 1, .open_for = backoff::constant(5s), .probe_timeout = 10s});
    s.fail(1);
    CHECK(s.allow_after(5s));
    CHECK_FALSE(s.allow_after(10s + 5s - 1ns)); // it has been open since the tenth second
    CHECK(s.allow_after(1ns));
    CHECK(s.state() == circuit_state::half_open);
    s.ends(verdict::succeeded, s.machine.generation());
    CHECK(s.state() == circuit_state::closed);
}

TEST_CASE("breaker_probes_that_go_on_have_time_and_one_that_hangs_among_them_does_not") {
    breaker_script s({.failures_in_a_row = 1, .probes = 2, .probes_to_close = 3, .probe_timeout = 10s});
    s.fail(1);
    REQUIRE(s.allow_after(5s)); // hangs
    const std::uint64_t generation = s.machine.generation();
    for (int i = 0; i < 2; ++i) {
        REQUIRE(s.allow_after(0s));
        s.now += 9s;
        s.ends(verdict::succeeded, generation);
        CHECK(s.state() == circuit_state::half_open);
    }
    CHECK_FALSE(s.allow_after(9s)); // it needs the one that hangs
    CHECK(s.state() == circuit_state::half_open);
    CHECK_FALSE(s.allow_after(1s));
    CHECK(s.state() == circuit_state::open);
    s.now += 5s;
    s.call(verdict::abandoned); // a probe without a verdict leaves time for the next one, too
    CHECK(s.allow_after(10s));
    CHECK(s.state() == circuit_state::half_open);
}

TEST_CASE("breaker_random_source_that_throws_at_a_probe_that_hangs_changes_nothing") {
    breaker_script s(
        {.failures_in_a_row = 1, .open_for = backoff::constant(1s).jitter(backoff_jitter::full), .probe_timeout = 10s});
    s.fail(1);
    REQUIRE(s.allow_after(1s));
    s.now += 10s;
    throwing_random bad;
    CHECK_THROWS_AS(s.machine.allow(s.now, bad), std::runtime_error);
    CHECK(s.state() == circuit_state::half_open);
    CHECK_FALSE(s.allow_after(0s));
    CHECK(s.state() == circuit_state::open);
}

TEST_CASE("breaker_late_results_say_nothing_about_the_present") {
    breaker_script s({.failures_in_a_row = 2, .probes = 1, .probes_to_close = 2});
    std::vector<std::uint64_t> early;
    for (int i = 0; i < 4; ++i) {
        REQUIRE(s.allow_after(0s));
        early.push_back(s.machine.generation());
    }
    s.fail(2);
    s.ends(verdict::failed, early[0]); // while open
    CHECK(s.machine.open_until() == s.now + 5s);
    CHECK(s.allow_after(5s));
    const auto probe = s.machine.generation();
    s.ends(verdict::succeeded, early[1]); // no probe
    s.ends(verdict::failed, early[2]);    // not against the probe
    s.ends(verdict::abandoned, early[3]);
    CHECK(s.state() == circuit_state::half_open);
    CHECK_FALSE(s.allow_after(0s)); // and no place is free
    s.ends(verdict::failed, probe);
    CHECK(s.state() == circuit_state::open);
    CHECK(s.machine.stats().late == 3);
}

TEST_CASE("breaker_second_failed_probe_of_a_generation_is_late") {
    breaker_script s({.failures_in_a_row = 1, .probes = 2, .probes_to_close = 2});
    s.fail(1);
    CHECK(s.allow_after(5s));
    CHECK(s.allow_after(0s));
    const auto g = s.machine.generation();
    s.ends(verdict::failed, g);
    s.now += 1s;
    s.ends(verdict::failed, g);
    CHECK(s.machine.open_until() == s.now + 4s);
    CHECK(s.machine.stats().opened == 2);
    CHECK(s.machine.stats().late == 1);
}

TEST_CASE("breaker_closed_by_hand_starts_anew") {
    breaker_script s({.failures_in_a_row = 2, .open_for = backoff::exponential(5s)});
    s.fail(2);
    s.machine.close();
    CHECK(s.state() == circuit_state::closed);
    s.fail(1);
    CHECK(s.state() == circuit_state::closed);
    s.fail(1);
    CHECK(s.machine.open_until() == s.now + 5s);
}

TEST_CASE("breaker_rate_opens_at_its_share_of_enough_calls") {
    breaker_script s({.failures_in_a_row = 0, .failure_rate = 0.5, .window = 10s, .min_calls = 10});
    s.fail(4);
    for (int i = 0; i < 5; ++i) s.call(verdict::succeeded);
    CHECK(s.state() == circuit_state::closed); // 4 of 9
    s.fail(1);
    CHECK(s.state() == circuit_state::open); // 5 of 10
}

TEST_CASE("breaker_rate_below_its_share_stays_closed_and_success_never_opens") {
    breaker_script s({.failures_in_a_row = 0, .failure_rate = 0.5, .window = 10s, .min_calls = 4});
    s.fail(3);
    s.call(verdict::succeeded); // 3 of 4, but a success is no reason
    CHECK(s.state() == circuit_state::closed);
    for (int i = 0; i < 6; ++i) s.call(verdict::succeeded);
    s.fail(1); // 4 of 11
    CHECK(s.state() == circuit_state::closed);
}

TEST_CASE("breaker_rate_forgets_what_left_the_window") {
    breaker_script s({.failures_in_a_row = 0, .failure_rate = 0.5, .window = 10s, .min_calls = 10});
    s.fail(9);
    s.now += 10s;
    s.fail(9);
    CHECK(s.state() == circuit_state::closed);
    s.fail(1);
    CHECK(s.state() == circuit_state::open);
}

TEST_CASE("breaker_rate_forgets_at_any_distance_from_the_epoch") {
    for (const auto begin : {std::chrono::nanoseconds::min(), std::chrono::nanoseconds(-3s),
                             std::chrono::nanoseconds(24h * 365 * 55), std::chrono::nanoseconds::max() - 1h}) {
        CAPTURE(begin.count());
        breaker_script s({.failures_in_a_row = 0, .failure_rate = 0.5, .window = 10ms, .min_calls = 10});
        s.now = begin;
        for (int round = 0; round < 3; ++round) {
            s.fail(9);
            s.now += 11ms;
            CHECK(s.state() == circuit_state::closed);
        }
        s.fail(10);
        CHECK(s.state() == circuit_state::open);
        CHECK_FALSE(s.allow_after(0s));
        s.now = s.machine.open_until();
        CHECK(s.allow_after(0s));
    }
}

TEST_CASE("breaker_random_source_that_throws_leaves_state_and_counts_right") {
    throwing_random random;
    breaker_script s({.failures_in_a_row = 1, .open_for = backoff::constant(5s).jitter(backoff_jitter::equal)});
    REQUIRE(s.allow_after(0s));
    CHECK_THROWS_AS(s.machine.ended(verdict::failed, s.machine.generation(), s.now, random), std::runtime_error);
    CHECK(s.state() == circuit_state::closed);
    CHECK(s.machine.stats().failed == 1);
    CHECK(s.machine.stats().opened == 0);
    s.fail(1);
    CHECK(s.state() == circuit_state::open);
}

TEST_CASE("breaker_counts_add_up_over_any_history") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        breaker_script s({.failures_in_a_row = static_cast<std::uint32_t>(1 + random.below(4)),
                          .failure_rate = random.below(2) == 0 ? 0 : 0.4,
                          .window = 1s,
                          .min_calls = 3,
                          .open_for = backoff::exponential(100ms).cap(1s).jitter(backoff_jitter::full),
                          .probes = static_cast<std::uint32_t>(1 + random.below(3)),
                          .probes_to_close = static_cast<std::uint32_t>(1 + random.below(3)),
                          .probe_timeout = 200ms});
        std::vector<std::uint64_t> in_flight;
        std::uint64_t asked = 0;
        for (int i = 0; i < 1000; ++i) {
            switch (random.below(4)) {
            case 0:
                s.now += std::chrono::milliseconds(random.below(100));
                if (random.below(2) == 0) s.machine.elapsed(s.now);
                break;
            case 1:
            case 2:
                ++asked;
                if (s.allow_after(0s)) in_flight.push_back(s.machine.generation());
                break;
            default:
                if (in_flight.empty()) break;
                const auto pick = static_cast<std::ptrdiff_t>(random.below(in_flight.size()));
                s.ends(static_cast<verdict>(random.below(3)), in_flight[static_cast<std::size_t>(pick)]);
                in_flight.erase(in_flight.begin() + pick);
            }
            const circuit_stats& c = s.machine.stats();
            REQUIRE(c.allowed == c.succeeded + c.failed + c.abandoned + in_flight.size());
            REQUIRE(c.allowed + c.refused == asked);
        }
    }
}

TEST_CASE("breaker_bad_options_name_value_range_and_remedy") {
    CHECK(refusal({}).empty());
    for (const double bad : {-0.1, 1.01, std::nan("")}) CHECK(says(refusal({.failure_rate = bad}), "failure_rate is"));
    CHECK(says(refusal({.failures_in_a_row = 0}), "both 0"));
    CHECK(refusal({.failures_in_a_row = 0, .failure_rate = 1}).empty());
    CHECK(says(refusal({.window = 999'999ns}), "window is 999999 ns, but must be at least 1 ms"));
    CHECK(says(refusal({.window = -1s}), "window is -1000000000 ns"));
    CHECK(says(refusal({.min_calls = 0}), "min_calls is 0"));
    CHECK(says(refusal({.open_for = backoff::constant(0s)}), "open_for begins with 0 ns"));
    CHECK(says(refusal({.probes = 0}), "probes is 0"));
    CHECK(says(refusal({.probes_to_close = 0}), "probes_to_close is 0"));
    CHECK(says(refusal({.probe_timeout = 0s}), "probe_timeout is 0 ns, but must be above zero"));
}
