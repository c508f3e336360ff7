// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tables in huge pages: asked for where there are some; timers do not notice.
#include "support/wheel/huge_pages.hpp"

#include <cogwheel/detail/platform.hpp>
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#if COGWHEEL_LINUX
#include "support/wheel/resident_pages.hpp"
#endif

using namespace cogwheel;

namespace {

constexpr std::size_t huge_page = 2 * 1024 * 1024;

struct table {
    node_table nodes;
    hashed_wheel wheel;
    std::size_t fired = 0;

    explicit table(bool huge) : wheel((nodes.prefer_huge_pages(huge), nodes), 512) {}

    timer_node& arm(std::uint64_t due) {
        timer_node& node = nodes.allocate(32);
        node.completion([](timer_node& n, void* self) {
            ++static_cast<table*>(self)->fired;
            static_cast<table*>(self)->nodes.release(n, 32);
        });
        wheel.schedule(node, {due});
        return node;
    }
};

} // namespace

TEST_CASE("huge_pages_are_asked_for") {
    for (const bool huge : {false, true}) {
        table t(huge);
        CHECK(t.nodes.prefers_huge_pages() == huge);
        t.arm(1);
        if (huge) CHECK(cogwheel_tests::huge_pages_asked_for().value_or(true));
        CHECK((t.nodes.footprint() >= huge_page) == huge);
        CHECK((t.wheel.footprint() >= huge_page) == huge);
    }
}

TEST_CASE("huge_pages_timers_do_not_notice") {
    table t(true);
    std::vector<timer_id> ids;
    for (std::uint32_t i = 0; i < 200'000; ++i) ids.push_back(t.arm(1 + i % 1000).id());
    for (std::size_t i = 0; i < ids.size(); i += 2) {
        timer_node* node = t.nodes.find(ids[i]);
        REQUIRE(node != nullptr);
        t.wheel.cancel(*node);
        t.nodes.release(*node, 32);
    }
    CHECK(t.wheel.size() == 100'000);
    t.wheel.advance({500}, work_budget::unlimited(), &t);
    CHECK(t.fired == 50'000);
    CHECK(t.wheel.trim());
    CHECK(t.wheel.check_invariants() == nullptr);
    t.wheel.advance({1000}, work_budget::unlimited(), &t);
    CHECK(t.fired == 100'000);
    CHECK(t.wheel.trim());
    for (const timer_id id : ids) CHECK(t.nodes.find(id) == nullptr);
    for (std::uint32_t i = 0; i < 1000; ++i) t.arm(2000);
    t.wheel.advance({2000}, work_budget::unlimited(), &t);
    CHECK(t.fired == 101'000);
}

#if COGWHEEL_LINUX
TEST_CASE("huge_pages_a_trim_in_small_steps_gives_back_as_many") {
    std::size_t resident[2];
    for (const bool in_steps : {false, true}) {
        table t(true);
        cogwheel_tests::page_set pages;
        std::vector<timer_node*> mine;
        for (std::uint32_t i = 0; i < 200'000; ++i) {
            mine.push_back(&t.nodes.allocate(32));
            pages.add(mine.back(), 32);
        }
        for (timer_node* node : mine) t.nodes.release(*node, 32);
        t.nodes.begin_trim();
        std::size_t steps = 1;
        for (work_budget step = 0; t.nodes.trim(step); step = in_steps ? work_budget(2'000) : work_budget::unlimited())
            ++steps;
        CHECK((steps > 400) == in_steps);
        resident[in_steps ? 1 : 0] = pages.resident();
        CHECK(pages.resident() < huge_page / cogwheel_tests::page_set::page()); // less than one
    }
    CHECK(resident[0] == resident[1]);
}
#endif
