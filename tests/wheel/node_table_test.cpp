// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Blocks and places: warm ones first, addresses that stay, an index that leads back to its node.
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <set>

using namespace cogwheel_tests;
using cogwheel::node_table;
using cogwheel::timer_node;
using cogwheel::wheel_access;

TEST_CASE("node_table_allocate_gives_back_the_block_released_last") {
    node_table nodes;
    timer_node& a = nodes.allocate(64);
    timer_node& b = nodes.allocate(64);
    nodes.release(a, 64);
    nodes.release(b, 64);
    CHECK(&nodes.allocate(60) == &b);
    CHECK(&nodes.allocate(33) == &a);
}

TEST_CASE("node_table_blocks_of_different_sizes_do_not_overlap") {
    node_table nodes;
    std::set<std::uintptr_t> bytes_used;
    for (int round = 0; round < 5; ++round) {
        for (const std::size_t bytes : {32U, 64U, 128U, 256U, 512U}) {
            const auto at = reinterpret_cast<std::uintptr_t>(&nodes.allocate(bytes));
            for (std::size_t i = 0; i < bytes; i += 32) CHECK(bytes_used.insert(at + i).second);
        }
    }
}

TEST_CASE("node_table_index_leads_to_its_node_over_many_pages") {
    node_table nodes;
    std::vector<timer_node*> blocks;
    std::vector<std::unique_ptr<timer_node>> embedded;
    for (int i = 0; i < 5000; ++i) {
        blocks.push_back(&nodes.allocate(i % 2 == 0 ? 32 : 200));
        nodes.attach(*embedded.emplace_back(std::make_unique<timer_node>()));
    }
    std::set<std::uint32_t> indices;
    const auto check = [&](timer_node* node) {
        const std::uint32_t index = wheel_access::index(*node);
        CHECK(indices.insert(index).second);
        CHECK(nodes.find(index) == node);
    };
    for (timer_node* node : blocks) check(node);
    for (const auto& node : embedded) check(node.get());
    for (const auto& node : embedded) {
        const std::uint32_t index = wheel_access::index(*node);
        nodes.detach(*node);
        CHECK(nodes.find(index) == nullptr);
    }
}

TEST_CASE("node_table_for_each_visits_every_node_once_in_order_of_index") {
    node_table nodes;
    std::vector<std::unique_ptr<timer_node>> embedded;
    const auto handed_out = [](timer_node&, void*) {};
    for (int i = 0; i < 1500; ++i) {
        nodes.allocate(64).completion(handed_out);
        nodes.attach(*embedded.emplace_back(std::make_unique<timer_node>(handed_out)));
    }
    nodes.detach(*embedded.front());
    std::size_t seen = 0, spare = 0;
    std::uint32_t before = 0;
    bool in_order = true;
    nodes.for_each([&](timer_node& node) {
        in_order &= seen + spare == 0 || wheel_access::index(node) > before;
        before = wheel_access::index(node);
        ++(node.completion() != nullptr ? seen : spare);
    });
    CHECK(in_order);
    CHECK(seen == 2999);
    CHECK(spare < 512 / 64); // blocks are made a few at a time
}

TEST_CASE("node_table_reserve_makes_room_beside_what_is_used") {
    node_table nodes;
    for (int i = 0; i < 700; ++i) (void)nodes.allocate(64);
    nodes.reserve(3000, 64);
    const std::size_t footprint = nodes.footprint();
    for (int i = 0; i < 3000; ++i) (void)nodes.allocate(64);
    CHECK(nodes.footprint() == footprint);
}

TEST_CASE("node_table_reserve_counts_the_blocks_given_back") {
    node_table nodes;
    std::vector<timer_node*> blocks;
    for (int i = 0; i < 3000; ++i) blocks.push_back(&nodes.allocate(64));
    for (timer_node* node : blocks) nodes.release(*node, 64);
    const std::size_t footprint = nodes.footprint();
    nodes.reserve(3000, 64);
    CHECK(nodes.footprint() == footprint);
}

TEST_CASE("wheel_entries_of_destroyed_timers_lead_nowhere") {
    node_table nodes;
    cogwheel::hashed_wheel wheel(nodes, 4);
    for (std::uint64_t i = 0; i < 500; ++i) {
        auto node = std::make_unique<timer_node>(ignore_expiry);
        nodes.attach(*node);
        wheel.schedule(*node, cogwheel::tick{1 + i % 7});
        wheel.cancel(*node);
        nodes.detach(*node);
    }
    CHECK(wheel.check_invariants() == nullptr);
    CHECK(wheel.size() == 0);
    CHECK(wheel.advance(cogwheel::tick{100}).fired == 0);
    CHECK(wheel.entries() == 0);
}
