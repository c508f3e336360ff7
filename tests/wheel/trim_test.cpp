// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// trim(): memory that nothing uses goes back to the system; nothing else changes, and no id is ever valid twice.
#include "support/random.hpp"
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheels_under_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

constexpr std::size_t timers = 10'000; // ten pages of nodes

template <class Wheel>
struct blocks {
    node_table nodes;
    Wheel wheel{nodes, 512, tick{}};
    std::size_t fired = 0;

    timer_node& make() {
        timer_node& node = nodes.allocate(32);
        node.completion([](timer_node& n, void* self) {
            ++static_cast<blocks*>(self)->fired;
            static_cast<blocks*>(self)->nodes.release(n, 32);
        });
        return node;
    }
    timer_id arm(std::uint64_t due) {
        timer_node& node = make();
        wheel.schedule(node, {due});
        return node.id();
    }
    void cancel(timer_id id) {
        timer_node* node = nodes.find(id);
        REQUIRE(node != nullptr);
        wheel.cancel(*node);
        nodes.release(*node, 32);
    }
    void advance(std::uint64_t to) { wheel.advance({to}, work_budget::unlimited(), this); }
};

} // namespace

TEST_CASE_TEMPLATE("trim_after_a_burst_old_ids_name_nothing_and_never_will", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::vector<timer_id> old;
    const bool cancelled = [&] {
        bool c = false;
        SUBCASE("fired") {}
        SUBCASE("cancelled") { c = true; }
        return c;
    }();
    for (int burst = 0; burst < 3; ++burst) {
        const std::size_t first = old.size();
        for (std::size_t i = 0; i < timers; ++i) old.push_back(b.arm(b.wheel.now().value + 1 + i % 700));
        if (cancelled)
            for (std::size_t i = first; i < old.size(); ++i) b.cancel(old[i]);
        else
            b.advance(b.wheel.now().value + 1000);
        const std::size_t nodes = b.nodes.footprint();
        CHECK(b.wheel.size() == 0);
        CHECK(b.wheel.trim());
        CHECK(b.nodes.footprint() == nodes); // of addresses
        CHECK(b.wheel.entries() == 0);
        CHECK(b.wheel.check_invariants() == nullptr);
        CHECK(std::none_of(old.begin(), old.end(), [&](timer_id id) { return b.nodes.find(id) != nullptr; }));
    }
    std::vector<timer_id> young;
    for (std::size_t i = 0; i < timers; ++i) young.push_back(b.arm(b.wheel.now().value + 50));
    CHECK(std::none_of(old.begin(), old.end(), [&](timer_id id) { return b.nodes.find(id) != nullptr; }));
    CHECK(std::all_of(young.begin(), young.end(), [&](timer_id id) { return b.nodes.find(id) != nullptr; }));
    b.fired = 0;
    b.advance(b.wheel.now().value + 50);
    CHECK(b.fired == timers);
}

TEST_CASE_TEMPLATE("trim_what_is_pending_stays_with_its_deadline_and_its_id", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::vector<timer_id> ids;
    for (std::size_t i = 0; i < timers; ++i) ids.push_back(b.arm(1 + i));
    for (std::size_t i = 0; i < timers; ++i)
        if (i % 2500 != 0) b.cancel(ids[i]); // four stay, far apart
    CHECK(b.wheel.trim());
    CHECK(b.wheel.entries() == 4);
    CHECK(b.wheel.check_invariants() == nullptr);
    for (std::size_t i = 0; i < timers; i += 2500) {
        CHECK(b.nodes.find(ids[i]) != nullptr);
        b.advance(i);
        CHECK(b.fired == i / 2500);
        b.advance(i + 1);
        CHECK(b.fired == i / 2500 + 1);
    }
}

TEST_CASE_TEMPLATE("trim_blocks_in_use_but_not_armed_stay", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::vector<timer_node*> mine;
    for (std::size_t i = 0; i < timers; ++i) mine.push_back(&b.make());
    for (std::size_t i = 0; i < timers; ++i)
        if (i != 5000) b.nodes.release(*mine[i], 32);
    CHECK(b.wheel.trim());
    const auto function = mine[5000]->completion();
    CHECK((function != nullptr));
    b.wheel.schedule(*mine[5000], {3});
    for (std::size_t i = 0; i < timers; ++i) CHECK(&b.make() != mine[5000]);
    b.advance(3);
    CHECK(b.fired == 1);
}

TEST_CASE_TEMPLATE("trim_pages_given_back_are_found_again_before_there_are_new_ones", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::size_t nodes = 0, entries = 0;
    for (int burst = 0; burst < 5; ++burst) {
        for (std::size_t i = 0; i < timers; ++i) b.arm(b.wheel.now().value + 1 + i % 600);
        b.advance(b.wheel.now().value + 600);
        CHECK(b.wheel.trim());
        CHECK(b.wheel.trim()); // again: nothing is left to do
        if (burst == 0) nodes = b.nodes.footprint();
        if (burst == 1) entries = b.wheel.footprint(); // the second began at another slot
    }
    CHECK(b.nodes.footprint() == nodes);
    CHECK(b.wheel.footprint() == entries);
}

TEST_CASE_TEMPLATE("trim_sizes_do_not_mix", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::vector<std::pair<timer_node*, std::size_t>> all;
    for (std::size_t i = 0; i < timers; ++i) {
        const std::size_t bytes = std::size_t{32} << i % 5;
        all.emplace_back(&b.nodes.allocate(bytes), bytes);
    }
    for (const auto& [node, bytes] : all) b.nodes.release(*node, bytes);
    const std::size_t footprint = b.nodes.footprint();
    b.nodes.trim();
    std::vector<std::uintptr_t> ends;
    for (auto& [node, bytes] : all) {
        node = &b.nodes.allocate(bytes);
        std::memset(static_cast<void*>(node + 1), 0xa5, bytes - sizeof *node); // what follows a node is its owner's
    }
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i)
        CHECK(reinterpret_cast<std::uintptr_t>(all[i - 1].first) + all[i - 1].second <=
              reinterpret_cast<std::uintptr_t>(all[i].first));
    CHECK(b.nodes.footprint() == footprint);
}

TEST_CASE_TEMPLATE("trim_embedded_timers_keep_their_places_and_generations", Wheel, EVERY_WHEEL) {
    node_table nodes;
    Wheel wheel(nodes, 64, tick{});
    std::vector<timer_node> some(3000);
    std::vector<timer_id> old;
    for (timer_node& node : some) {
        nodes.attach(node);
        wheel.schedule(node, {5});
        old.push_back(node.id());
        wheel.cancel(node);
    }
    for (std::size_t i = 0; i < some.size(); ++i)
        if (i != 1500) nodes.detach(some[i]);
    CHECK(wheel.trim());
    wheel.schedule(some[1500], {7});
    for (std::size_t i = 0; i < some.size(); ++i)
        if (i != 1500) nodes.attach(some[i]);
    for (std::size_t i = 0; i < some.size(); ++i) {
        if (i != 1500) wheel.schedule(some[i], {8});
        CHECK(nodes.find(some[i].id()) == &some[i]);
        CHECK(nodes.find(old[i]) == nullptr);
    }
    CHECK(wheel.check_invariants() == nullptr);
    for (timer_node& node : some) {
        wheel.cancel(node);
        nodes.detach(node);
    }
}

TEST_CASE_TEMPLATE("trim_page_with_a_retired_block_stays", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    timer_node& node = b.make();
    wheel_access::set_generation(node, 0x8000'0002);
    b.nodes.release(node, 32);
    b.nodes.trim();
    timer_node& next = b.make();
    CHECK(&next != &node);
    b.wheel.schedule(next, {1});
    CHECK(next.id().generation < 1000); // its neighbours did not pay for it
    b.wheel.cancel(next);
}

TEST_CASE_TEMPLATE("trim_inside_an_expiry_function_or_half_way_through_a_turn_does_nothing", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    bool inside = true;
    struct context {
        blocks<Wheel>* b;
        bool* inside;
    } c{&b, &inside};
    for (int i = 0; i < 3; ++i) {
        timer_node& node = b.nodes.allocate(32);
        node.completion([](timer_node& n, void* p) {
            auto& at = *static_cast<context*>(p);
            *at.inside = at.b->wheel.trim();
            at.b->nodes.release(n, 32);
        });
        b.wheel.schedule(node, {4});
    }
    CHECK(b.wheel.advance({4}, work_budget::expiries(1), &c).more);
    CHECK(!inside);
    CHECK(b.wheel.size() != 0);
    CHECK(!b.wheel.trim());
    b.wheel.advance({4}, work_budget::unlimited(), &c);
    CHECK(b.wheel.trim());
}

TEST_CASE_TEMPLATE("trim_half_way_through_a_turn_whose_rest_was_cancelled", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::vector<timer_id> ids;
    for (int i = 0; i < 1000; ++i) ids.push_back(b.arm(4));
    for (int i = 0; i < 1000; ++i) ids.push_back(b.arm(0)); // overdue
    b.wheel.advance({4}, work_budget::expiries(1), &b);
    for (const timer_id id : ids)
        if (b.nodes.find(id) != nullptr) b.cancel(id);
    CHECK(b.wheel.size() == 0);
    CHECK(b.wheel.trim());
    CHECK(b.wheel.check_invariants() == nullptr);
    b.arm(9);
    b.fired = 0;
    b.advance(9);
    CHECK(b.fired == 1);
}

TEST_CASE_TEMPLATE("trim_while_a_walk_is_unfinished_does_nothing", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    const std::uint64_t revolution = b.wheel.slots();
    b.arm(revolution + 1); // where one level has all slots, the walk meets it on its way to tick 3, and goes on
    b.arm(3);
    CHECK(b.wheel.advance({3}, work_budget(1), &b).more);
    CHECK_FALSE(b.wheel.trim());
    b.advance(3);
    CHECK(b.wheel.trim());
    CHECK(b.wheel.size() == 1);
}

TEST_CASE_TEMPLATE("trim_in_steps_does_no_more_than_its_budget_pays_for", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::vector<timer_id> ids;
    for (std::size_t i = 0; i < timers; ++i) ids.push_back(b.arm(1 + i % 100'000));
    for (std::size_t i = 0; i < timers; ++i)
        if (i % 1000 != 0) b.cancel(ids[i]);
    constexpr std::int64_t units = 2'000;
    detail::trim_position at;
    std::size_t steps = 1, entries = b.wheel.entries();
    for (; b.wheel.trim(at, units) && steps < 10'000; ++steps) {
        CHECK(entries - b.wheel.entries() <= units / work_budget::entry + 1024); // the last slot may exceed the budget
        entries = b.wheel.entries();
        CHECK(b.wheel.check_invariants() == nullptr);
    }
    CHECK(at.done());
    CHECK(steps >= timers * 2 * work_budget::entry / units);
    CHECK(b.wheel.entries() == 10);
    CHECK_FALSE(b.wheel.trim(at, units)); // the position is at its end
    CHECK(at.done());
    for (std::size_t i = 0; i < timers; i += 1000) CHECK(b.nodes.find(ids[i]) != nullptr);
}

TEST_CASE_TEMPLATE("trim_in_steps_a_full_slot_is_cleaned_chunk_by_chunk", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::vector<timer_id> ids;
    for (std::size_t i = 0; i < timers; ++i) ids.push_back(b.arm(3));
    for (std::size_t i = 0; i < timers; ++i)
        if (i % 100 != 0) b.cancel(ids[i]);
    detail::trim_position at;
    std::size_t steps = 1;
    for (; b.wheel.trim(at, 300) && steps < 10'000; ++steps) CHECK(b.wheel.check_invariants() == nullptr);
    CHECK(steps >= timers * work_budget::entry / 300 / 2);
    CHECK(b.wheel.entries() == timers / 100);
    b.advance(3);
    CHECK(b.fired == timers / 100);
}

TEST_CASE_TEMPLATE("trim_in_steps_nodes_come_and_go_meanwhile_and_none_is_lost", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    random_source random(3);
    std::vector<timer_node*> mine;
    std::size_t footprint = 0;
    for (int round = 0; round < 20; ++round) {
        while (mine.size() < timers) mine.push_back(&b.make());
        for (timer_node* node : mine) CHECK(b.nodes.find(wheel_access::index(*node)) == node);
        if (footprint == 0) footprint = b.nodes.footprint();
        CHECK(b.nodes.footprint() == footprint); // so all nodes were found again
        for (timer_node*& node : mine) std::swap(node, mine[random.below(mine.size())]);
        for (std::size_t keep = timers / 2 * static_cast<std::size_t>(round % 3); mine.size() > keep; mine.pop_back())
            b.nodes.release(*mine.back(), 32);
        b.nodes.begin_trim();
        for (work_budget step = 0; b.nodes.trim(step); step = 1 + static_cast<std::int64_t>(random.below(3'000))) {
            for (std::uint64_t i = random.below(40); i != 0 && mine.size() < timers; --i) mine.push_back(&b.make());
            for (std::uint64_t i = random.below(20); i != 0 && !mine.empty(); --i) {
                b.nodes.release(*mine.back(), 32);
                mine.pop_back();
            }
            if (random.below(100) == 0) b.nodes.begin_trim(); // another one begins
            if (random.below(200) == 0) break;                // this one is left unfinished
        }
    }
    std::sort(mine.begin(), mine.end());
    CHECK(std::adjacent_find(mine.begin(), mine.end()) == mine.end());
}

TEST_CASE_TEMPLATE("trim_in_steps_timers_fire_meanwhile", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    std::size_t armed = 0;
    for (; armed < timers; ++armed) b.arm(1 + armed % 3'000);
    detail::trim_position at;
    std::uint64_t now = 0;
    while (b.wheel.trim(at, 500) || now < 3'000) {
        if (now < 2'500 && armed < 3 * timers) b.arm(now + 1 + armed++ % 400);
        b.wheel.advance({now += now % 500 == 0 ? 700 : 1}, work_budget(2'000), &b); // may leave some due
        if (now % 16 == 0) CHECK(b.wheel.check_invariants() == nullptr);
    }
    CHECK(at.done());
    while (b.wheel.advance({now + 1'000}, work_budget::unlimited(), &b).more) {
    }
    CHECK(b.fired == armed);
    CHECK(b.wheel.check_invariants() == nullptr);
}

TEST_CASE_TEMPLATE("trim_in_steps_while_a_timer_is_due_does_nothing", Wheel, EVERY_WHEEL) {
    blocks<Wheel> b;
    for (int i = 0; i < 100; ++i) b.arm(4);
    b.wheel.advance({4}, work_budget::expiries(1), &b);
    detail::trim_position at;
    CHECK_FALSE(b.wheel.trim(at, 100));
    CHECK_FALSE(at.done());
    b.advance(4);
    CHECK_FALSE(b.wheel.trim(at, 100)); // a new trim needs a new position
    CHECK_FALSE(at.done());
}
