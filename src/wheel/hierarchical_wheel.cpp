// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Plans the levels of a wheel. entry_wheel does the rest.
#include "../detail/error_text.hpp"
#include "../detail/throwing.hpp"

#include <cogwheel/wheel/hierarchical_wheel.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace cogwheel::COGWHEEL_ABI {

namespace {

// A level of one slot would reach no farther than the level below.
constexpr std::size_t fewest_slots = 2;
constexpr std::size_t default_slots = 64;

} // namespace

struct hierarchical_wheel::plan {
    std::size_t slots = 0;
    std::vector<detail::slot_ring> outer;

    static plan of(std::size_t slots) {
        plan p;
        p.slots = std::bit_ceil(std::max(slots, fewest_slots));
        for (std::uint64_t reach = p.slots; reach <= horizon; reach *= p.slots) p.outer.emplace_back(p.slots, reach);
        return p;
    }

    static plan of(const wheel_levels& levels) {
        if (levels.empty()) return of(default_slots);
        if (const std::string fault = levels.fault(); !fault.empty())
            detail::throw_invalid_argument(detail::error_text("cogwheel: ").add(fault.c_str()).c_str());
        plan p;
        p.slots = levels[0].slots;
        for (const wheel_level& level : std::span(levels).subspan(1))
            p.outer.emplace_back(level.slots, static_cast<std::uint64_t>(level.tick / levels[0].tick));
        return p;
    }
};

hierarchical_wheel::hierarchical_wheel(node_table& nodes, std::size_t slots, tick now)
    : hierarchical_wheel(nodes, plan::of(slots), now) {}

hierarchical_wheel::hierarchical_wheel(node_table& nodes, const wheel_levels& levels, tick now)
    : hierarchical_wheel(nodes, plan::of(levels), now) {}

hierarchical_wheel::hierarchical_wheel(node_table& nodes, plan p, tick now) : entry_wheel(nodes, p.slots, now) {
    add_outer(std::move(p.outer));
}

} // namespace cogwheel::COGWHEEL_ABI
