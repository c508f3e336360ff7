// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An id names one life of one timer: stale when that life ends, and never valid again, whoever gets the node next and
// however often.
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace cogwheel_tests;
using cogwheel::tick;
using cogwheel::timer_id;
using cogwheel::timer_node;
using cogwheel::wheel_access;

namespace {

constexpr std::uint32_t half = 0x8000'0000; // from here on, a node is retired at the end of its use
constexpr std::uint32_t last_even = ~std::uint32_t{0} - 1;

struct block_bench {
    cogwheel::node_table nodes;
    cogwheel::hashed_wheel wheel{nodes, 4};

    timer_node& allocate() {
        timer_node& node = nodes.allocate(64);
        node.completion(ignore_expiry);
        return node;
    }
};

} // namespace

TEST_CASE("find_id_is_valid_while_pending_only") {
    block_bench bench;
    timer_node& node = bench.allocate();
    const timer_id next = node.next_id();
    CHECK(bench.nodes.find(next) == nullptr);
    bench.wheel.schedule(node, tick{5});
    const timer_id id = node.id();
    CHECK(id == next);
    CHECK(bench.nodes.find(id) == &node);
    bench.wheel.reschedule(node, tick{9});
    bench.wheel.reschedule(node, tick{3});
    CHECK(node.id() == id);
    CHECK(bench.nodes.find(id) == &node);
    bench.wheel.cancel(node);
    CHECK(bench.nodes.find(id) == nullptr);
    bench.wheel.schedule(node, tick{5});
    CHECK(bench.nodes.find(id) == nullptr);
    CHECK(node.id() != id);
    const timer_id second = node.id();
    bench.wheel.advance(tick{5});
    CHECK(bench.nodes.find(second) == nullptr);
}

TEST_CASE("find_ids_of_many_lives_of_one_block_are_all_different") {
    block_bench bench;
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        timer_node& node = bench.allocate();
        bench.wheel.schedule(node, tick{i + 1});
        const timer_id id = node.id();
        CHECK(seen.insert(std::uint64_t{id.index} << 32 | id.generation).second);
        if (i % 2 == 0)
            bench.wheel.cancel(node);
        else
            bench.wheel.advance(tick{i + 1});
        bench.nodes.release(node, 64);
    }
}

TEST_CASE("find_any_id_is_harmless") {
    block_bench bench;
    CHECK(bench.nodes.find(timer_id{}) == nullptr);
    CHECK(bench.nodes.find(timer_id{0, 3}) == nullptr);
    (void)bench.allocate();
    bench.nodes.reserve(3000, 64);
    timer_node embedded;
    bench.nodes.attach(embedded);
    for (std::uint32_t index = 0; index < 8 * 1024; index += 5)
        for (const std::uint32_t generation : {0U, 1U, 2U, 3U, 0x01010101U, 0xffffffffU})
            CHECK(bench.nodes.find(timer_id{index, generation}) == nullptr);
    CHECK(bench.nodes.find(timer_id{0xffffffff, 3}) == nullptr);
    bench.nodes.detach(embedded);
}

TEST_CASE("release_block_after_half_of_its_generations_is_retired") {
    block_bench bench;
    timer_node& node = bench.allocate();
    wheel_access::set_generation(node, half - 2);
    bench.wheel.schedule(node, tick{5});
    bench.wheel.cancel(node);
    bench.nodes.release(node, 64);
    for (int i = 0; i < 100; ++i) CHECK(&bench.allocate() != &node);
}

TEST_CASE("release_block_before_half_of_its_generations_is_reused") {
    block_bench bench;
    timer_node& node = bench.allocate();
    wheel_access::set_generation(node, half - 4);
    bench.wheel.schedule(node, tick{5});
    bench.wheel.cancel(node);
    bench.nodes.release(node, 64);
    CHECK(&bench.allocate() == &node);
}

TEST_CASE("release_block_armed_past_its_last_generation_in_its_last_use_does_not_repeat_an_id") {
    block_bench bench;
    timer_node& node = bench.allocate();
    bench.wheel.schedule(node, tick{1});
    const timer_id old = node.id(); // kept somewhere
    bench.wheel.cancel(node);
    bench.nodes.release(node, 64);
    REQUIRE(&bench.allocate() == &node);
    wheel_access::set_generation(node, last_even); // after many uses; the last one goes beyond the end
    bench.nodes.release(node, 64);
    for (int i = 0; i < 100; ++i) {
        timer_node& next = bench.allocate();
        for (int arming = 0; arming < 3; ++arming) {
            bench.wheel.schedule(next, tick{1});
            CHECK(next.id() != old);
            CHECK(bench.nodes.find(old) == nullptr);
            bench.wheel.cancel(next);
        }
    }
}

TEST_CASE("detach_place_whose_generations_are_used_up_is_retired") {
    block_bench bench;
    timer_node first(ignore_expiry), second(ignore_expiry);
    bench.nodes.attach(first);
    const std::uint32_t index = wheel_access::index(first);
    wheel_access::set_generation(first, half - 2);
    bench.wheel.schedule(first, tick{1});
    bench.wheel.advance(tick{1});
    bench.nodes.detach(first);
    bench.nodes.attach(second);
    CHECK(wheel_access::index(second) != index);
    bench.nodes.detach(second);
}

TEST_CASE("detach_place_whose_generations_a_node_has_used_up_and_more_is_retired") {
    block_bench bench;
    timer_node first(ignore_expiry), second(ignore_expiry);
    bench.nodes.attach(first);
    const std::uint32_t index = wheel_access::index(first);
    bench.wheel.schedule(first, tick{1}); // whose id is kept somewhere
    bench.wheel.cancel(first);
    bench.nodes.detach(first);
    bench.nodes.attach(first);
    CHECK(wheel_access::index(first) == index);
    wheel_access::set_generation(first, last_even);
    for (int i = 0; i < 2; ++i) {
        bench.wheel.schedule(first, tick{1});
        bench.wheel.cancel(first);
    }
    bench.nodes.detach(first);
    bench.nodes.attach(second);
    CHECK(wheel_access::index(second) != index);
    bench.nodes.detach(second);
}

TEST_CASE("attach_goes_on_with_the_generation_of_its_place") {
    block_bench bench;
    timer_node first(ignore_expiry), second(ignore_expiry);
    bench.nodes.attach(first);
    bench.wheel.schedule(first, tick{1});
    const timer_id id = first.id();
    CHECK(bench.nodes.find(id) == &first);
    bench.wheel.cancel(first);
    bench.nodes.detach(first);
    CHECK(bench.nodes.find(id) == nullptr);
    bench.nodes.attach(second);
    CHECK(wheel_access::index(second) == id.index);
    bench.wheel.schedule(second, tick{1});
    CHECK(second.id() != id);
    CHECK(bench.nodes.find(id) == nullptr);
    bench.wheel.cancel(second);
    bench.nodes.detach(second);
}

TEST_CASE("release_all_old_ids_stay_stale") {
    cogwheel::node_table nodes;
    timer_id old;
    {
        cogwheel::hashed_wheel wheel(nodes, 4);
        timer_node& node = nodes.allocate(64);
        for (int i = 0; i < 10; ++i) {
            wheel.schedule(node, tick{5});
            old = node.id();
            wheel.cancel(node);
        }
    }
    CHECK(nodes.release_all());
    CHECK(nodes.footprint() == 0);
    CHECK(nodes.find(old) == nullptr);
    cogwheel::hashed_wheel wheel(nodes, 4);
    timer_node& node = nodes.allocate(64);
    for (int i = 0; i < 10; ++i) {
        wheel.schedule(node, tick{5});
        CHECK(wheel_access::index(node) == old.index);
        CHECK(nodes.find(old) == nullptr);
        wheel.cancel(node);
    }
}

TEST_CASE("release_all_says_when_generations_are_used_up") {
    block_bench bench;
    timer_node& node = bench.allocate();
    wheel_access::set_generation(node, half - 2);
    bench.wheel.schedule(node, tick{5});
    bench.wheel.cancel(node);
    bench.nodes.release(node, 64);
    bench.wheel.clear([](timer_node&) {});
    CHECK(!bench.nodes.release_all());
}
