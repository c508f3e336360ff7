// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Handlers may do anything but advance: cancel and move siblings of the same tick, clear, destroy themselves, throw.
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

using namespace cogwheel_tests;
using cogwheel::tick;

namespace {

// n timers at one tick; the first to fire does `act` to each of the others.
template <class Wheel, class Act>
void first_of_a_tick(basic_wheel_fixture<Wheel>& bench, int n, std::uint64_t at, Act act) {
    for (int i = 0; i < n; ++i) {
        numbered_timer& t = bench.schedule(at);
        t.then = [&bench, &t, act] {
            if (bench.fired.size() != 1) return;
            for (numbered_timer& other : bench.timers)
                if (&other != &t) act(other);
        };
    }
}

} // namespace

TEST_CASE_TEMPLATE("cancel_siblings_of_the_same_tick_do_not_fire", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t to : {std::uint64_t{3}, std::uint64_t{1'000}}) { // walked to, jumped to
        basic_wheel_fixture<Wheel> bench(4);
        first_of_a_tick(bench, 100, 3, [&](numbered_timer& t) { bench.wheel.cancel(t.node); });
        CHECK(bench.advance(to).fired == 1);
        CHECK(bench.wheel.size() == 0);
        CHECK(bench.advance(to + 100).fired == 0);
    }
}

TEST_CASE_TEMPLATE("reschedule_siblings_later_fire_then", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t to : {std::uint64_t{3}, std::uint64_t{1'000}}) {
        basic_wheel_fixture<Wheel> bench(4);
        first_of_a_tick(bench, 100, 3, [&](numbered_timer& t) { bench.wheel.reschedule(t.node, tick{to + 9}); });
        CHECK(bench.advance(to).fired == 1);
        CHECK(bench.wheel.size() == 99);
        CHECK(bench.advance(to + 8).fired == 0);
        CHECK(bench.advance(to + 9).fired == 99);
    }
}

TEST_CASE_TEMPLATE("cancel_and_schedule_a_sibling_anew_fires_at_its_new_tick_once", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t to : {std::uint64_t{3}, std::uint64_t{1'000}}) {
        basic_wheel_fixture<Wheel> bench(4);
        first_of_a_tick(bench, 100, 3, [&](numbered_timer& t) {
            bench.wheel.cancel(t.node);
            bench.wheel.schedule(t.node, tick{to + 4}); // the same slot, a revolution later
        });
        CHECK(bench.advance(to).fired == 1);
        CHECK(bench.advance(to + 3).fired == 0);
        CHECK(bench.advance(to + 4).fired == 99);
        CHECK(bench.advance(to + 100).fired == 0);
    }
}

TEST_CASE_TEMPLATE("handler_that_throws_leaves_advance_and_the_next_call_goes_on", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t to : {std::uint64_t{3}, std::uint64_t{1'000}}) {
        basic_wheel_fixture<Wheel> bench(4);
        for (int i = 0; i < 10; ++i) bench.schedule(3).then = [] { throw std::runtime_error("handler"); };
        for (std::size_t thrown = 1; thrown <= 10; ++thrown) {
            CHECK_THROWS_AS(bench.advance(to), std::runtime_error);
            CHECK(bench.fired.size() == thrown);
            CHECK(bench.wheel.size() == 10 - thrown);
            CHECK(bench.wheel.check_invariants() == nullptr);
        }
        CHECK(bench.advance(to).fired == 0);
    }
}

TEST_CASE_TEMPLATE("overdue_handler_that_clears_and_arms_loses_nothing", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 9);
    bench.schedule(0).then = [&] {
        bench.wheel.clear([](cogwheel::timer_node&) {});
        bench.schedule(0);
    };
    bench.schedule(0); // cleared
    CHECK(bench.advance(9).fired == 1);
    CHECK(bench.advance(9).fired == 1);
    CHECK(bench.fired == std::vector<int>{0, 2});
}

TEST_CASE_TEMPLATE("overdue_handler_that_throws_is_not_called_again", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4, 9);
    bench.schedule(0).then = [] { throw std::runtime_error("handler"); };
    bench.schedule(0);
    CHECK_THROWS_AS(bench.advance(9), std::runtime_error);
    CHECK(bench.next_due() == 9);
    CHECK(bench.advance(9).fired == 1);
    CHECK(bench.fired == std::vector<int>{0, 1});
}

TEST_CASE_TEMPLATE("clear_inside_a_handler_fires_nothing_more", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    int visited = 0;
    for (int i = 0; i < 100; ++i)
        bench.schedule(3).then = [&] { bench.wheel.clear([&](cogwheel::timer_node&) { ++visited; }); };
    bench.schedule(50);
    CHECK(bench.advance(3).fired == 1);
    CHECK(visited == 100);
    CHECK(bench.wheel.size() == 0);
    CHECK(bench.wheel.entries() == 0);
    CHECK(bench.next_due() == ~std::uint64_t{0});
    CHECK(bench.wheel.check_invariants() == nullptr);
    bench.wheel.schedule(bench.timers[0].node, tick{7});
    bench.timers[0].then = [] {};
    CHECK(bench.advance(7).fired == 1);
}

TEST_CASE_TEMPLATE("clear_may_give_blocks_back_while_it_visits", Wheel, EVERY_WHEEL) {
    cogwheel::node_table nodes;
    Wheel wheel(nodes, 4);
    for (std::uint64_t i = 0; i < 3000; ++i) {
        auto& node = nodes.allocate(64);
        node.completion(ignore_expiry);
        wheel.schedule(node, tick{1 + i});
    }
    std::size_t visited = 0;
    wheel.clear([&](cogwheel::timer_node& node) {
        ++visited;
        nodes.release(node, 64);
    });
    CHECK(visited == 3000);
    const std::size_t footprint = nodes.footprint();
    for (int i = 0; i < 3000; ++i) (void)nodes.allocate(64);
    CHECK(nodes.footprint() == footprint);
}

TEST_CASE_TEMPLATE("handler_that_destroys_its_own_node_and_siblings_is_safe", Wheel, EVERY_WHEEL) {
    struct world {
        cogwheel::node_table nodes;
        Wheel wheel{nodes, 4};
        std::vector<std::unique_ptr<cogwheel::timer_node>> alive;
    } w;
    const auto destroy_all = [](cogwheel::timer_node&, void* context) {
        world& in = *static_cast<world*>(context);
        for (auto& node : in.alive) {
            if (node->armed()) in.wheel.cancel(*node);
            in.nodes.detach(*node);
        }
        in.alive.clear();
    };
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 50; ++i) {
            w.nodes.attach(*w.alive.emplace_back(std::make_unique<cogwheel::timer_node>(destroy_all)));
            w.wheel.schedule(*w.alive.back(), w.wheel.now() + 2);
        }
        CHECK(w.wheel.advance(w.wheel.now() + 2, cogwheel::work_budget::unlimited(), &w).fired == 1);
        CHECK(w.wheel.size() == 0);
        CHECK(w.wheel.check_invariants() == nullptr);
    }
}

TEST_CASE_TEMPLATE("size_is_exact_inside_handlers", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    for (std::size_t i = 0; i < 20; ++i)
        bench.schedule(2).then = [&] { CHECK(bench.wheel.size() == 20 - bench.fired.size()); };
    bench.advance(2);
}

TEST_CASE_TEMPLATE("interrupted_advance_returns_after_that_timer_and_the_next_goes_on", Wheel, EVERY_WHEEL) {
    for (const std::uint64_t to : {std::uint64_t{3}, std::uint64_t{1'000}}) {
        basic_wheel_fixture<Wheel> bench(4);
        for (int i = 0; i < 5; ++i) bench.schedule(3).then = [&] { bench.wheel.interrupt(); };
        for (int fired = 1; fired <= 5; ++fired) {
            const auto result = bench.advance(to);
            CHECK(result.fired == 1);
            CHECK(result.more == (fired < 5));
            CHECK(bench.wheel.check_invariants() == nullptr);
        }
        CHECK(bench.advance(to).fired == 0);
    }
}

TEST_CASE_TEMPLATE("interrupt_outside_of_an_advance_has_no_effect", Wheel, EVERY_WHEEL) {
    basic_wheel_fixture<Wheel> bench(4);
    for (int i = 0; i < 5; ++i) bench.schedule(3);
    bench.wheel.interrupt();
    CHECK(bench.advance(3).fired == 5);
}
