// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What trim() says it gives back is no longer in memory, what is in use is; and footprints are exact.
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX
#include "support/wheel/resident_pages.hpp"
#include "support/wheel/wheels_under_test.hpp"

#include <cogwheel/wheel/detail/entry_chain.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using cogwheel::detail::chunk;
using cogwheel::detail::chunk_pool;
using cogwheel::detail::slab_memory;

namespace {

void trim(chunk_pool& pool) {
    pool.begin_trim();
    for (work_budget all = work_budget::unlimited(); pool.trim(all);) {
    }
}

} // namespace

TEST_CASE("trim_of_nodes_all_pages_but_those_in_use_leave_memory") {
    constexpr std::size_t each = 64, count = 10 * node_table::page_size;
    node_table nodes;
    page_set pages;
    std::vector<timer_node*> mine;
    for (std::size_t i = 0; i < count; ++i) {
        mine.push_back(&nodes.allocate(each));
        pages.add(mine.back(), each);
    }
    CHECK(pages.resident() == pages.size());
    timer_node* const kept = mine[count / 2];
    for (timer_node* node : mine)
        if (node != kept) nodes.release(*node, each);
    nodes.trim();
    CHECK(pages.resident() == pages.size() / 10); // one page of the table
    nodes.release(*kept, each);
    nodes.trim();
    CHECK(pages.resident() == 0);
}

TEST_CASE_TEMPLATE("trim_of_a_wheel_its_nodes_leave_memory_too", Wheel, EVERY_WHEEL) {
    constexpr std::size_t each = 64, count = 4 * node_table::page_size;
    node_table nodes;
    Wheel wheel(nodes, 64, tick{});
    page_set pages;
    std::vector<timer_node*> mine;
    for (std::size_t i = 0; i < count; ++i) {
        mine.push_back(&nodes.allocate(each));
        mine.back()->completion([](timer_node&, void*) {});
        wheel.schedule(*mine.back(), {1 + i});
        pages.add(mine.back(), each);
    }
    for (timer_node* node : mine) {
        wheel.cancel(*node);
        nodes.release(*node, each);
    }
    CHECK(pages.resident() == pages.size());
    CHECK(wheel.trim());
    CHECK(pages.resident() == 0);
}

TEST_CASE("trim_of_nodes_memory_that_came_back_goes_again") {
    constexpr std::size_t each = 32, count = 4 * node_table::page_size;
    node_table nodes;
    for (int burst = 0; burst < 3; ++burst) {
        page_set pages;
        std::vector<timer_node*> mine;
        for (std::size_t i = 0; i < count; ++i) {
            mine.push_back(&nodes.allocate(each));
            pages.add(mine.back(), each);
        }
        CHECK(pages.resident() == pages.size());
        for (timer_node* node : mine) nodes.release(*node, each);
        nodes.trim();
        CHECK(pages.resident() == 0);
    }
}

TEST_CASE("trim_of_chunks_groups_without_one_in_use_leave_memory") {
    chunk_pool pool;
    page_set pages;
    std::vector<chunk*> mine;
    for (std::size_t i = 0; i < std::size_t{64} * 10; ++i) {
        mine.push_back(pool.take());
        mine.back()->count = 1;
        pages.add(mine.back(), sizeof(chunk));
    }
    CHECK(pages.resident() == pages.size());
    chunk* const kept = mine[200];
    for (chunk* c : mine)
        if (c != kept) pool.give(c);
    trim(pool);
    CHECK(kept->count == 1);
    CHECK(pages.resident() == pages.size() / 10); // one group
    pool.give(kept);
    trim(pool);
    CHECK(pages.resident() == 0);
}

TEST_CASE_TEMPLATE("trim_of_places_embedded_timers_take_no_more_of_them", Wheel, EVERY_WHEEL) {
    constexpr std::size_t count = 3 * node_table::page_size;
    node_table nodes;
    Wheel wheel(nodes, 64, tick{});
    std::vector<timer_node> timers(count);
    std::vector<timer_id> old;
    std::size_t footprint = 0;
    for (int burst = 0; burst < 4; ++burst) {
        for (timer_node& node : timers) {
            nodes.attach(node);
            wheel.schedule(node, {5});
            for (const timer_id id : {node.id()}) CHECK(nodes.find(id) == &node);
            old.push_back(node.id());
            wheel.cancel(node);
            nodes.detach(node);
        }
        CHECK(wheel.trim());
        if (burst == 0) footprint = nodes.footprint();
        CHECK(nodes.footprint() == footprint);
    }
    nodes.attach(timers[0]);
    wheel.schedule(timers[0], {5});
    for (const timer_id id : old) CHECK(nodes.find(id) == nullptr);
    wheel.cancel(timers[0]);
    nodes.detach(timers[0]);
}

TEST_CASE("slab_memory_footprint_is_what_was_taken_and_an_eighth_at_most") {
    constexpr std::size_t piece = slab_memory::alignment;
    slab_memory memory;
    CHECK(memory.footprint() == 0);
    (void)memory.take(piece);
    CHECK(memory.footprint() == piece);
    std::size_t taken = piece;
    for (int i = 0; i < 1000; ++i) {
        (void)memory.take(piece);
        taken += piece;
        CHECK(memory.footprint() >= taken);
        CHECK(memory.footprint() <= taken + taken / 8);
    }
    memory.release();
    CHECK(memory.footprint() == 0);
    (void)memory.take(2 * piece);
    CHECK(memory.footprint() == 2 * piece);
}

TEST_CASE("slab_memory_slabs_grow_to_a_limit_unless_a_piece_is_larger") {
    constexpr std::size_t large = 3 * slab_memory::max_slab;
    slab_memory memory;
    for (int i = 0; i < 4; ++i) (void)memory.take(large);
    CHECK(memory.footprint() == 4 * large);
    (void)memory.take(slab_memory::alignment);
    CHECK(memory.footprint() == 4 * large + slab_memory::max_slab); // an eighth would be more
}
#endif
