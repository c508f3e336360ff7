// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the types promise without being run: noexcept, sizes, and that ticks are computed at compile time.
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>

using namespace cogwheel;
using namespace std::chrono_literals;

namespace {

static_assert(timing_wheel<hashed_wheel>);
static_assert(noexcept(std::declval<hashed_wheel&>().cancel(std::declval<timer_node&>())));
static_assert(noexcept(std::declval<const hashed_wheel&>().now()) &&
              noexcept(std::declval<const hashed_wheel&>().size()) &&
              noexcept(std::declval<const hashed_wheel&>().slots()));
static_assert(noexcept(std::declval<const hashed_wheel&>().entries()) &&
              noexcept(std::declval<const hashed_wheel&>().footprint()));
static_assert(!noexcept(std::declval<hashed_wheel&>().schedule(std::declval<timer_node&>(), tick{})),
              "may need memory for an entry");

static_assert(noexcept(std::declval<node_table&>().release(std::declval<timer_node&>(), 64)) &&
              noexcept(std::declval<node_table&>().detach(std::declval<timer_node&>())));
static_assert(noexcept(std::declval<node_table&>().find(timer_id{})) &&
              noexcept(std::declval<node_table&>().release_all()));
static_assert(noexcept(std::declval<timer_node&>().armed()) && noexcept(std::declval<timer_node&>().deadline()) &&
              noexcept(std::declval<timer_node&>().id()));

static_assert(!std::is_copy_constructible_v<timer_node> && !std::is_move_constructible_v<timer_node>);
static_assert(!std::is_copy_constructible_v<hashed_wheel> && !std::is_move_constructible_v<hashed_wheel>);
static_assert(!std::is_copy_assignable_v<node_table> && !std::is_move_assignable_v<node_table>);
static_assert(std::is_trivially_destructible_v<timer_node>, "a free block needs no destructor");

static_assert(sizeof(timer_node) == 32, "half a cache line");
static_assert(sizeof(timer_id) == 8, "a name in one word");
static_assert(sizeof(tick) == 8);
static_assert(sizeof(detail::entry) == 8, "a far timer costs 8 bytes to scan");
static_assert(sizeof(detail::chunk) == 512);
static_assert(std::is_trivially_copyable_v<timer_id> && std::is_trivially_copyable_v<tick>);
static_assert(node_table::max_block % node_table::min_block == 0);
static_assert(hashed_wheel::max_slots == 65536);

static_assert(tick_scale(10ms).due(20ms) == tick{2} && tick_scale(10ms).now(20ms) == tick{2});
static_assert(tick::max() + 1 == tick::max());
static_assert(detail::saturate_to_ns(std::chrono::hours::max()) == std::chrono::nanoseconds::max());
static_assert(timer_id{} == timer_id{0, 0});

} // namespace

TEST_CASE("work_budget_expiries_is_spent_after_that_many") {
    work_budget budget = work_budget::expiries(2);
    budget.charge(work_budget::expiry);
    CHECK(!budget.spent());
    budget.charge(work_budget::expiry);
    CHECK(budget.spent());
    CHECK(work_budget(0).spent());
    static_assert(!std::is_default_constructible_v<work_budget>); // a budget of nothing would never end
    CHECK(!work_budget::unlimited().spent());
    CHECK(!work_budget::expiries(~std::uint32_t{0}).spent());
}

TEST_CASE("hashed_wheel_slots_are_rounded_up_to_a_power_of_two") {
    node_table nodes;
    CHECK(hashed_wheel(nodes, 1).slots() == 1);
    CHECK(hashed_wheel(nodes, 3).slots() == 4);
    CHECK(hashed_wheel(nodes, 512).slots() == 512);
    CHECK(hashed_wheel(nodes, hashed_wheel::max_slots).slots() == hashed_wheel::max_slots);
}

TEST_CASE("node_table_blocks_are_aligned_for_what_follows_their_node") {
    node_table nodes;
    for (const std::size_t bytes : {32U, 33U, 64U, 65U, 128U, 129U, 256U, 257U, 512U}) {
        for (int i = 0; i < 3; ++i) {
            const auto address = reinterpret_cast<std::uintptr_t>(&nodes.allocate(bytes));
            CHECK(address % node_table::block_alignment == 0);
            if (bytes > 32 && bytes <= 64) CHECK(address % 64 == 0);
        }
    }
}
