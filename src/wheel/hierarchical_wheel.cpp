// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which levels a wheel gets; all it does with them is hashed_wheel's.
#include <cogwheel/wheel/hierarchical_wheel.hpp>

#include <stdexcept>

namespace cogwheel {

namespace {

// A level of one slot would never reach farther than the one below.
constexpr std::size_t fewest_slots = 2;
constexpr std::size_t default_slots = 64;

} // namespace

struct hierarchical_wheel::plan {
    std::size_t slots = 0;
    std::vector<far_ring> far;

    static plan of(std::size_t slots) {
        plan p;
        p.slots = std::bit_ceil(std::max(slots, fewest_slots));
        for (std::uint64_t reach = p.slots; reach <= horizon; reach *= p.slots) p.far.push_back({reach, p.slots});
        return p;
    }

    static plan of(const wheel_levels& levels) {
        if (levels.empty()) return of(default_slots);
        if (const std::string fault = levels.fault(); !fault.empty()) throw std::invalid_argument("cogwheel: " + fault);
        plan p;
        p.slots = levels[0].slots;
        for (const wheel_level& level : std::span(levels).subspan(1))
            p.far.push_back({static_cast<std::uint64_t>(level.tick / levels[0].tick), level.slots});
        return p;
    }
};

hierarchical_wheel::hierarchical_wheel(node_table& nodes, std::size_t slots, tick now)
    : hierarchical_wheel(nodes, plan::of(slots), now) {}

hierarchical_wheel::hierarchical_wheel(node_table& nodes, const wheel_levels& levels, tick now)
    : hierarchical_wheel(nodes, plan::of(levels), now) {}

hierarchical_wheel::hierarchical_wheel(node_table& nodes, const plan& p, tick now)
    : hashed_wheel(nodes, p.slots, p.far, now) {}

} // namespace cogwheel
