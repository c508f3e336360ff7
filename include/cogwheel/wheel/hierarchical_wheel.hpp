// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The hierarchical timing wheel: scheme 7 of Varghese & Lauck ("Hashed and Hierarchical Timing Wheels", 1987), with
// the entries of hashed_wheel. For fine ticks over long ranges: a timer is looked at when it is due, not once a revolution.
//
// - schedule, cancel, reschedule: as hashed_wheel, whose code they are. A first filing searches the levels: O(levels).
// - advance: O(occupied slots passed + entries moved). An entry moves down once a level; its timer is not touched by that.
// - next_due() is exact across all levels: going down a level causes no wake-up of its own.
// - Beyond the last level an entry stays in that one and goes round with it. No error, and never early.
// Same guarantees, same tests. When to choose which: docs/adr/0006.
#pragma once

#include <cogwheel/wheel/hashed_wheel.hpp>
#include <cogwheel/wheel/wheel_levels.hpp>

namespace cogwheel {

class hierarchical_wheel : private hashed_wheel {
public:
    using hashed_wheel::max_slots;

    /// Levels of `slots` slots each, as many as entries of 2^31 ticks need. A level takes memory from its first timer on, or a turn that is more than a revolution late.
    /// Preconditions: as hashed_wheel. Errors: std::bad_alloc.
    hierarchical_wheel(node_table& nodes, std::size_t slots, tick now = {});

    /// The levels given; a tick of the wheel is that of the first of them. None: 64 slots each.
    /// Errors: std::bad_alloc; std::invalid_argument that names the level, its value, the range and the remedy.
    hierarchical_wheel(node_table& nodes, const wheel_levels& levels, tick now = {});

    using hashed_wheel::advance;
    using hashed_wheel::cancel;
    using hashed_wheel::check_invariants;
    using hashed_wheel::clear;
    using hashed_wheel::entries;
    using hashed_wheel::footprint;
    using hashed_wheel::for_each;
    using hashed_wheel::interrupt;
    using hashed_wheel::next_due;
    using hashed_wheel::now;
    using hashed_wheel::occupied;
    using hashed_wheel::reschedule;
    using hashed_wheel::reserve;
    using hashed_wheel::schedule;
    using hashed_wheel::size;
    using hashed_wheel::slots; ///< of the first level
    using hashed_wheel::trim;

    /// The first one included.
    std::size_t levels() const noexcept { return 1 + far().size(); }

private:
    friend struct wheel_access;
    struct plan;
    hierarchical_wheel(node_table& nodes, const plan&, tick now);
};

static_assert(timing_wheel<hierarchical_wheel>);

} // namespace cogwheel
