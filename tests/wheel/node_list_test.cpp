// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Nodes in a list: first in, first out, each with an id that is valid while it is there; and nodes that change their
// address.
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <cogwheel/wheel/detail/node_list.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

using namespace cogwheel_tests;
using cogwheel::hashed_wheel;
using cogwheel::node_table;
using cogwheel::tick;
using cogwheel::timer_id;
using cogwheel::timer_node;
using cogwheel::wheel_access;
using cogwheel::detail::node_list;

namespace {

std::vector<timer_node*> drained(node_list& list) {
    std::vector<timer_node*> nodes;
    while (timer_node* node = list.pop_front()) nodes.push_back(node);
    return nodes;
}

/// Three nodes of a table, in a list.
struct three {
    node_table nodes;
    node_list list;
    timer_node &a, &b, &c;

    three() : a(nodes.allocate(32)), b(nodes.allocate(32)), c(nodes.allocate(32)) {
        for (timer_node* node : {&a, &b, &c}) list.push_back(*node);
    }
};

void remember_address(timer_node& node, void* context) { *static_cast<timer_node**>(context) = &node; }

} // namespace

TEST_CASE("node_list_pop_front_first_in_first_out") {
    three t;
    CHECK(drained(t.list) == std::vector{&t.a, &t.b, &t.c});
    CHECK(t.list.empty());
    CHECK(t.list.pop_front() == nullptr);
    t.list.push_back(t.c);
    t.list.push_back(t.a);
    CHECK(drained(t.list) == std::vector{&t.c, &t.a});
}

TEST_CASE("node_list_id_is_valid_while_the_node_is_in_the_list") {
    node_table nodes;
    node_list list;
    timer_node& node = nodes.allocate(32);
    const timer_id next = node.next_id();
    CHECK(nodes.find(next) == nullptr);
    list.push_back(node);
    CHECK(node.armed());
    CHECK(node.id() == next);
    CHECK(nodes.find(next) == &node);
    CHECK(list.pop_front() == &node);
    CHECK_FALSE(node.armed());
    CHECK(nodes.find(next) == nullptr);
    list.push_back(node);
    CHECK(node.id() != next);
    CHECK(nodes.find(next) == nullptr);
    CHECK(node_list::erase(node) == &list);
}

TEST_CASE("node_list_unnamed_node_has_no_id") {
    node_table nodes;
    node_list list;
    timer_node& node = nodes.allocate(32);
    const timer_id next = node.next_id();
    list.push_back(node, false);
    CHECK_FALSE(node.armed());
    CHECK(nodes.find(next) == nullptr);
    CHECK(list.pop_front() == &node);
    CHECK_FALSE(node.armed());
    CHECK(node.next_id() == next);
}

TEST_CASE("node_list_named_and_unnamed_nodes_mixed") {
    node_table nodes;
    node_list list;
    timer_node &a = nodes.allocate(32), &b = nodes.allocate(32), &c = nodes.allocate(32);
    list.push_back(a, false);
    list.push_back(b);
    list.push_back(c, false);
    CHECK(node_list::erase(b) == nullptr);
    CHECK_FALSE(b.armed());
    CHECK(drained(list) == std::vector{&a, &c});
}

TEST_CASE("node_list_pop_front_does_not_touch_an_unnamed_node_that_is_alone") {
    node_table nodes;
    node_list list;
    timer_node &a = nodes.allocate(32), &b = nodes.allocate(32);
    const auto touched_by_pop = [&](timer_node& node) {
        const auto bytes = std::as_bytes(std::span(&node, 1));
        const std::vector<std::byte> before(bytes.begin(), bytes.end());
        CHECK(list.pop_front() == &node);
        return !std::ranges::equal(bytes, before);
    };
    list.push_back(a, false);
    CHECK_FALSE(touched_by_pop(a));
    CHECK(list.empty());
    list.push_back(b, false);
    list.push_back(a, false);
    CHECK(touched_by_pop(b)); // its neighbour has to be found
    CHECK_FALSE(touched_by_pop(a));
    CHECK(list.pop_front() == nullptr);
    list.push_back(a);
    CHECK(touched_by_pop(a));
    list.push_back(b, false); // the list forgot its named nodes
    CHECK_FALSE(touched_by_pop(b));
}

TEST_CASE("node_list_moved_named_nodes_stay_named") {
    node_table nodes;
    node_list list;
    timer_node& node = nodes.allocate(32);
    list.push_back(node);
    const timer_id id = node.id();
    node_list assigned;
    assigned = std::move(list);
    node_list constructed(std::move(assigned));
    CHECK(constructed.pop_front() == &node);
    CHECK(nodes.find(id) == nullptr);
}

TEST_CASE("node_list_erase_anywhere_the_others_keep_their_order") {
    for (int victim = 0; victim < 3; ++victim) {
        CAPTURE(victim);
        three t;
        std::vector<timer_node*> left{&t.a, &t.b, &t.c};
        const timer_id id = left[static_cast<std::size_t>(victim)]->id();
        CHECK(node_list::erase(*t.nodes.find(id)) == nullptr); // somebody is left
        CHECK(t.nodes.find(id) == nullptr);
        left.erase(left.begin() + victim);
        CHECK(drained(t.list) == left);
    }
}

TEST_CASE("node_list_erase_of_the_last_one_names_the_list") {
    three t;
    CHECK(node_list::erase(t.b) == nullptr);
    CHECK(node_list::erase(t.a) == nullptr);
    CHECK(node_list::erase(t.c) == &t.list);
    CHECK(t.list.empty());
}

TEST_CASE("node_list_popped_node_can_go_to_the_wheel_and_come_back") {
    three t;
    hashed_wheel wheel(t.nodes, 8);
    t.b.completion(remember_address);
    (void)drained(t.list); // the wheel takes every node of its table for its own
    wheel.schedule(t.b, tick{3});
    CHECK(wheel.check_invariants() == nullptr);
    timer_node* fired = nullptr;
    CHECK(wheel.advance(tick{3}, cogwheel::work_budget::unlimited(), &fired).fired == 1);
    CHECK(fired == &t.b);
    t.list.push_back(t.a);
    t.list.push_back(t.b);
    CHECK(drained(t.list) == std::vector{&t.a, &t.b});
}

TEST_CASE("node_list_moved_takes_all_nodes_the_source_is_empty") {
    three t;
    const timer_id id = t.b.id();
    node_list moved(std::move(t.list));
    CHECK(t.list.empty());
    CHECK(t.nodes.find(id) == &t.b);
    t.list.push_back(t.nodes.allocate(32)); // of use again
    CHECK(node_list::erase(t.b) == nullptr);
    CHECK(node_list::erase(t.a) == nullptr);
    CHECK(node_list::erase(t.c) == &moved); // not the old list
    node_list assigned;
    assigned = std::move(t.list);
    CHECK(t.list.empty());
    CHECK_FALSE(assigned.empty());
    CHECK(drained(assigned).size() == 1);
}

TEST_CASE("node_list_moved_while_empty_both_are_empty") {
    node_list a;
    node_list b(std::move(a));
    a = std::move(b);
    CHECK(a.empty());
    node_table nodes;
    timer_node& node = nodes.allocate(32);
    a.push_back(node);
    CHECK(node_list::erase(node) == &a);
}

TEST_CASE("node_table_relocate_disarmed_the_index_leads_to_the_new_node") {
    node_table nodes;
    hashed_wheel wheel(nodes, 8);
    timer_node from(remember_address), to(remember_address);
    nodes.attach(from);
    wheel.schedule(from, tick{1});
    const timer_id old = from.id();
    wheel.cancel(from);
    const std::uint32_t index = wheel_access::index(from);
    nodes.relocate(from, to);
    CHECK(nodes.find(index) == &to);
    CHECK_FALSE(to.armed());
    CHECK_FALSE(from.armed());
    CHECK(nodes.find(old) == nullptr);
    wheel.schedule(to, tick{5});
    CHECK(to.id() != old); // generations go on
    timer_node* fired = nullptr;
    CHECK(wheel.advance(tick{10}, cogwheel::work_budget::unlimited(), &fired).fired == 1);
    CHECK(fired == &to);
    nodes.detach(to);
}

TEST_CASE("node_table_relocate_armed_the_new_node_fires_under_the_old_id") {
    for (const std::uint64_t due : {1U, 7U, 8U, 100U}) { // this round, its last slot, the next, one far away
        CAPTURE(due);
        node_table nodes;
        hashed_wheel wheel(nodes, 8);
        timer_node from(remember_address), to(remember_address);
        nodes.attach(from);
        wheel.schedule(from, tick{due});
        const timer_id id = from.id();
        nodes.relocate(from, to);
        CHECK(wheel.check_invariants() == nullptr);
        CHECK(nodes.find(id) == &to);
        CHECK(to.id() == id);
        CHECK(to.deadline() == tick{due});
        CHECK_FALSE(from.armed());
        CHECK(wheel.size() == 1);
        timer_node* fired = nullptr;
        CHECK(wheel.advance(tick{due - 1}, cogwheel::work_budget::unlimited(), &fired).fired == 0);
        CHECK(wheel.advance(tick{due}, cogwheel::work_budget::unlimited(), &fired).fired == 1);
        CHECK(fired == &to);
        nodes.detach(to);
    }
}

TEST_CASE("node_table_relocate_overdue_the_new_node_fires_next") {
    node_table nodes;
    hashed_wheel wheel(nodes, 8, tick{50});
    std::array<timer_node, 2> others{timer_node(ignore_expiry), timer_node(ignore_expiry)};
    timer_node from(remember_address), to(remember_address);
    for (timer_node* node : {&others[0], &from, &others[1]}) {
        nodes.attach(*node);
        wheel.schedule(*node, tick{10});
    }
    const timer_id id = from.id();
    nodes.relocate(from, to);
    CHECK(wheel.check_invariants() == nullptr);
    CHECK(nodes.find(id) == &to);
    timer_node* fired = nullptr;
    CHECK(wheel.advance(tick{50}, cogwheel::work_budget::unlimited(), &fired).fired == 3);
    CHECK(fired == &to);
    CHECK(wheel.size() == 0);
}

TEST_CASE("node_table_relocate_pushed_back_and_brought_forward_afterwards") {
    node_table nodes;
    hashed_wheel wheel(nodes, 8);
    timer_node a(remember_address), b(remember_address), c(remember_address);
    nodes.attach(a);
    wheel.schedule(a, tick{5});
    nodes.relocate(a, b);
    wheel.reschedule(b, tick{20});
    nodes.relocate(b, c);
    timer_node* fired = nullptr;
    CHECK(wheel.advance(tick{19}, cogwheel::work_budget::unlimited(), &fired).fired == 0);
    nodes.relocate(c, a); // its entry has been moved on meanwhile
    wheel.reschedule(a, tick{1000});
    wheel.reschedule(a, tick{21});
    CHECK(wheel.check_invariants() == nullptr);
    CHECK(wheel.advance(tick{21}, cogwheel::work_budget::unlimited(), &fired).fired == 1);
    CHECK(fired == &a);
    nodes.detach(a);
}

TEST_CASE("node_table_relocated_source_is_a_new_node") {
    node_table nodes;
    hashed_wheel wheel(nodes, 8);
    timer_node from(remember_address), to(remember_address);
    nodes.attach(from);
    wheel.schedule(from, tick{2});
    nodes.relocate(from, to);
    nodes.attach(from);
    CHECK(wheel_access::index(from) != wheel_access::index(to));
    wheel.schedule(from, tick{1});
    timer_node* fired = nullptr;
    CHECK(wheel.advance(tick{1}, cogwheel::work_budget::unlimited(), &fired).fired == 1);
    CHECK(fired == &from);
    CHECK(wheel.advance(tick{2}, cogwheel::work_budget::unlimited(), &fired).fired == 1);
    CHECK(fired == &to);
    nodes.detach(from);
    nodes.detach(to);
}
