// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The observer of a wheel hears of each timer, in the order of what happens, and by the name of its handler.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/random.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/wheel/observed_wheel.hpp>

#include <map>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Notes the state of each timer, and complains about what cannot be.
struct ledger_of_timers {
    std::map<std::pair<std::uint32_t, std::uint32_t>, tick> pending;
    std::vector<std::string> expired;
    std::uint64_t scheduled = 0, rescheduled = 0, cancelled = 0, fired = 0;
    std::uint64_t begun = 0, ended = 0; // turns
    bool sound = true;

    void on_turn_begin() noexcept { sound = ++begun == ended + 1 && sound; }
    void on_turn_end() noexcept { sound = ++ended == begun && sound; }

    static auto key(timer_id id) { return std::pair(id.index, id.generation); }

    void on_schedule(const timer_node& n, tick due) noexcept {
        ++scheduled;
        sound = pending.emplace(key(n.id()), due).second && sound;
    }
    void on_reschedule(const timer_node& n, tick due) noexcept {
        ++rescheduled;
        sound = pending.contains(key(n.id())) && sound;
        pending[key(n.id())] = due;
    }
    void on_cancel(const timer_node& n) noexcept {
        ++cancelled;
        sound = pending.erase(key(n.last_id())) == 1 && sound;
    }
    void on_expire(const timer_node& n, std::string_view what) noexcept {
        ++fired;
        sound = begun == ended + 1 && sound; // inside a turn
        sound = pending.erase(key(n.last_id())) == 1 && sound;
        expired.emplace_back(what);
    }
};

struct only_counts_expiries {
    int n = 0;
    void on_expire(const timer_node&, std::string_view) noexcept { ++n; }
};
struct sees_nothing {};

template <class Observer>
using watched = basic_timer_wheel<manual_clock, multi_threaded, observed_wheel<hashed_wheel, Observer>>;

struct the_handler_of_this_test {
    void operator()(std::error_code = {}) const {}
};

template <class Wheel>
ledger_of_timers ledger(const Wheel& wheel) {
    return wheel.with_observer([](ledger_of_timers& l) { return l; });
}

/// A wheel of another author, who changes ours.
struct counts_calls : hashed_wheel {
    using hashed_wheel::hashed_wheel;
    void schedule(timer_node& node, tick due) {
        ++scheduled;
        hashed_wheel::schedule(node, due);
    }
    void reschedule(timer_node& node, tick due) {
        ++rescheduled;
        hashed_wheel::reschedule(node, due);
    }
    static inline int scheduled = 0, rescheduled = 0;
};

} // namespace

static_assert(timing_wheel<observed_wheel<hashed_wheel, sees_nothing>>);
static_assert(detail::levelled_wheel<observed_wheel<hierarchical_wheel, sees_nothing>>);
static_assert(detail::counted_wheel<observed_wheel<hashed_wheel, sees_nothing>>);
static_assert(sizeof(observed_wheel<hashed_wheel, sees_nothing>) == sizeof(hashed_wheel) + sizeof(std::uint64_t),
              "an observer without members takes no room");

TEST_CASE("observer_hears_of_each_step_of_a_timer") {
    asio::io_context io;
    watched<ledger_of_timers> wheel{io, {.tick = 10ms}};
    auto a = wheel.schedule(20ms, the_handler_of_this_test());
    CHECK(ledger(wheel).pending.begin()->second == tick{2});
    a.reschedule(50ms);
    CHECK(ledger(wheel).pending.begin()->second == tick{5});
    a.cancel();
    wheel.async_wait(10ms, the_handler_of_this_test());
    pass(io, 10ms);
    wheel.async_wait(1h, the_handler_of_this_test());
    wheel.cancel_all();
    run_ready(io);
    const ledger_of_timers l = ledger(wheel);
    CHECK(l.sound);
    CHECK(l.pending.empty());
    CHECK(l.scheduled == 3);
    CHECK(l.rescheduled == 1);
    CHECK(l.cancelled == 2);
    CHECK(l.fired == 1);
}

TEST_CASE("observer_learns_the_name_of_the_handler") {
    asio::io_context io;
    watched<ledger_of_timers> wheel{io};
    asio::io_context elsewhere;
    testing::manual_timer_wheel other{elsewhere};
    const auto lambda = [] {};
    wheel.schedule(10ms, lambda);
    wheel.schedule(10ms, the_handler_of_this_test());
    wheel.async_wait(10ms, the_handler_of_this_test());
    other.async_wait(1h, timeout(wheel, 10ms, the_handler_of_this_test()));
    pass(io, 10ms);
    const ledger_of_timers l = ledger(wheel);
    REQUIRE(l.expired.size() == 4);
    int named = 0, lambdas = 0;
    for (const std::string& what : l.expired) {
        CAPTURE(what);
        CHECK(what.find("string_view") == what.npos);
        CHECK(what.find(']') == what.npos);
        named += what.ends_with("the_handler_of_this_test") ? 1 : 0;
        lambdas += what.find("lambda") != what.npos ? 1 : 0;
    }
    CHECK(named == 3);
    CHECK(lambdas == 1);
    other.stop();
    run_ready(elsewhere);
}

TEST_CASE("observer_hears_of_the_end_of_a_turn_that_throws") {
    asio::io_context io;
    watched<ledger_of_timers> wheel{io};
    wheel.schedule(10ms, [] { throw 1; });
    manual_clock::advance(10ms);
    CHECK_THROWS(run_ready(io));
    CHECK(ledger(wheel).ended == 1);
    CHECK(ledger(wheel).sound);
}

TEST_CASE("observer_may_have_any_of_the_functions") {
    asio::io_context io;
    watched<only_counts_expiries> wheel{io};
    wheel.schedule(10ms, [] {});
    wheel.schedule(1h, [] {}).cancel();
    pass(io, 10ms);
    CHECK(wheel.with_observer([](only_counts_expiries& o) { return o.n; }) == 1);
}

TEST_CASE_TEMPLATE("functions_of_a_wheel_that_hides_ours_are_called_for_each_timer", W, counts_calls,
                   observed_wheel<counts_calls, sees_nothing>) {
    counts_calls::scheduled = counts_calls::rescheduled = 0;
    asio::io_context io;
    basic_timer_wheel<manual_clock, multi_threaded, W> wheel{io};
    for (int i = 1; i <= 10; ++i) {
        const auto token = wheel.schedule(1s, [] {});
        token.reschedule(2s);
        token.cancel();
        CHECK(counts_calls::scheduled == i);
        CHECK(counts_calls::rescheduled == i);
    }
}

TEST_CASE("take_overs_are_the_timers_without_a_new_entry") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        asio::io_context io;
        watched<sees_nothing> wheel{io, {.tick = 1ms, .slots = 64}};
        std::uint64_t truth = 0;
        std::vector<watched<sees_nothing>::token_type> tokens(20);
        for (int i = 0; i < 400; ++i) {
            auto& t = tokens[random.below(tokens.size())];
            t.cancel();
            const std::uint64_t before = wheel.stats().entries;
            t = wheel.schedule(std::chrono::microseconds(500 + random.below(200'000)), [] {});
            truth += wheel.stats().entries == before ? 1U : 0U; // so few are dead that no sweep begins
            CHECK(wheel.stats().take_overs == truth);
            if (random.below(4) == 0) pass(io, std::chrono::microseconds(random.below(20'000)));
        }
        CHECK(truth > 50);
        CHECK(wheel.stats().sweeps == 0);
        wheel.stop();
        run_ready(io);
    }
    virtual_wheel plain;
    CHECK_FALSE(plain.wheel.stats().take_overs.has_value());
}

TEST_CASE("take_overs_beyond_the_horizon_are_new_entries") {
    node_table nodes;
    observed_wheel<hashed_wheel, sees_nothing> wheel(nodes, 64, tick{});
    timer_node& node = nodes.allocate(32);
    for (int i = 0; i < 3; ++i) { // each entry gets the tick of the horizon
        wheel.schedule(node, tick{std::uint64_t{1} << 40});
        CHECK(wheel.entries() == static_cast<std::size_t>(i) + 1);
        CHECK(wheel.take_overs() == 0);
        wheel.cancel(node);
    }
    nodes.release(node, 32);
}

TEST_CASE("observer_agrees_with_the_counts_after_each_step") {
    asio::io_context io;
    basic_timer_wheel<manual_clock, single_threaded, observed_wheel<hierarchical_wheel, ledger_of_timers>> wheel{
        io, {.tick = 1ms, .slots = 4}};
    random_source random(7);
    std::vector<decltype(wheel)::token_type> tokens(30);
    for (int i = 0; i < 3000; ++i) {
        auto& t = tokens[random.below(tokens.size())];
        const auto delay = std::chrono::microseconds(random.below(100'000)) - 1ms;
        switch (random.below(4)) {
        case 0:
            t.cancel();
            break;
        case 1:
            t.reschedule(delay);
            break;
        case 2:
            t.cancel();
            t = wheel.schedule(delay, [] {});
            break;
        default:
            pass(io, std::chrono::microseconds(random.below(5'000)));
        }
        const ledger_of_timers l = ledger(wheel);
        const wheel_stats s = wheel.stats();
        CHECK(l.sound);
        CHECK(l.pending.size() == s.pending);
        CHECK(l.scheduled == s.scheduled);
        CHECK(l.cancelled == s.cancelled);
        CHECK(l.fired == s.fired);
        CHECK(l.begun == s.turns);
        CHECK(l.ended == s.turns);
    }
    wheel.stop();
    run_ready(io);
}
