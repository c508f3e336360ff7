// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The hierarchical timing wheel: scheme 7 of Varghese & Lauck ("Hashed and Hierarchical Timing Wheels", 1987), with the
// entries of hashed_wheel. It suits fine ticks over long ranges: the entry of a far timer moves down at most once per
// level, and costs no look in each revolution.
//
// - schedule, cancel, reschedule: the code of hashed_wheel. A new entry searches the levels for its slot: O(levels).
// - advance: O(slots passed + entries that are due or move). A move does not look at the node.
// - next_due() knows the earliest tick of each slot, so moves to a finer level need no wake-up.
// - The entry of a timer beyond the reach of the last level moves at most once per revolution of that level.
// The other guarantees are those of hashed_wheel. When to choose which wheel: docs/adr/0006.
#pragma once

#include <cogwheel/wheel/detail/entry_wheel.hpp>
#include <cogwheel/wheel/wheel_levels.hpp>

namespace cogwheel::COGWHEEL_ABI {

/// A wheel with a ring of slots for each level.
///
///     cogwheel::node_table nodes;
///     cogwheel::hierarchical_wheel wheel(nodes, cogwheel::clock_hands); // ticks of 10 ms, levels up to 30 days
///     nodes.attach(timer);
///     wheel.schedule(timer, cogwheel::tick{360'000}); // in one hour
class hierarchical_wheel : public detail::entry_wheel {
public:
    /// Makes the levels of `slots` slots that timers up to 2^31 - 1 ticks ahead need. Rounds `slots` up to a power of
    /// two, at least 2. An outer level allocates its slots for its first entry, in reserve(), or in an advance() over
    /// more than one revolution of the first level.
    /// Preconditions, Errors, Lifetime: those of hashed_wheel.
    hierarchical_wheel(node_table& nodes, std::size_t slots, tick now = {});

    /// Makes the given levels, with numbers of slots rounded up to powers of two. If `levels` is empty, makes levels of
    /// 64 slots each. One tick of the wheel is the `tick` of the first level.
    /// Preconditions: no other wheel uses `nodes`.
    /// Errors: std::bad_alloc; std::invalid_argument that names the level, its value, the range and the remedy.
    /// Lifetime: `nodes` outlives the wheel.
    hierarchical_wheel(node_table& nodes, const wheel_levels& levels, tick now = {});

private:
    struct plan;
    hierarchical_wheel(node_table& nodes, plan, tick now);
};

static_assert(timing_wheel<hierarchical_wheel>);

} // namespace cogwheel::COGWHEEL_ABI
