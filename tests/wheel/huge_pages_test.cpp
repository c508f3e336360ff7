// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tables in huge pages: asked for where there are some; timers do not notice.
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <doctest/doctest.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

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
        node.on_expiry([](timer_node& n, void* self) {
            ++static_cast<table*>(self)->fired;
            static_cast<table*>(self)->nodes.release(n, 32);
        });
        wheel.schedule(node, {due});
        return node;
    }
};

/// What the system was told of the memory behind an address (proc(5), VmFlags); nothing if it does not say.
std::optional<bool> huge_pages_asked_for(const void* address) {
    if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) return std::nullopt;
    std::ifstream maps("/proc/self/smaps");
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
        const char* end = line.data() + line.size();
        std::uintptr_t from = 0, to = 0;
        const auto dash = std::from_chars(line.data(), end, from, 16);
        if (dash.ptr != end && *dash.ptr == '-' && std::from_chars(dash.ptr + 1, end, to, 16).ptr != end)
            here = from <= at && at < to;
        else if (here && line.starts_with("VmFlags:"))
            return line.find(" hg") != std::string::npos;
    }
    return std::nullopt;
}

} // namespace

TEST_CASE("huge_pages_are_asked_for") {
    for (const bool huge : {false, true}) {
        table t(huge);
        CHECK(t.nodes.prefers_huge_pages() == huge);
        const timer_node& node = t.arm(1);
        if (huge) CHECK(huge_pages_asked_for(&node).value_or(true));
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
