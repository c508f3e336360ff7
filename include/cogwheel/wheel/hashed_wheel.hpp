// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The hashed timing wheel: scheme 6 of Varghese & Lauck ("Hashed and Hierarchical Timing Wheels", 1987). A slot holds
// contiguous 8-byte entries. An entry names a timer and a tick at which to look at it.
//
// - schedule, cancel, reschedule: O(1), amortised.
// - advance: O(slots passed + entries of slots with a due entry). The first term is at most O(slots), even for many
//   revolutions. The budget bounds each call.
// - Never early. Earlier ticks fire before later ones, also within one advance(). The order within a tick is
//   deterministic, but not specified.
// - size() is always exact, even inside a completion function.
// - A timer more than `slots` ticks ahead can cost a look at its entry in each revolution: see hierarchical_wheel.
// The wheel has no clock, no thread and no lock. detail/entry_wheel.hpp documents the functions.
#pragma once

#include <cogwheel/wheel/detail/entry_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI {

/// A wheel with one ring of slots.
///
///     cogwheel::node_table nodes;
///     cogwheel::hashed_wheel wheel(nodes, 512);
///     cogwheel::timer_node timer([](cogwheel::timer_node&, void*) { std::puts("expired"); });
///     nodes.attach(timer);
///     wheel.schedule(timer, cogwheel::tick{100});
///     wheel.advance(cogwheel::tick{100}); // prints "expired"
///     nodes.detach(timer);
class hashed_wheel : public detail::entry_wheel {
public:
    /// Makes an empty wheel whose present tick is `now`. Rounds `slots` up to a power of two.
    /// Preconditions: 1 <= slots <= max_slots (65,536); no other wheel uses `nodes`. Errors: std::bad_alloc.
    /// Lifetime: `nodes` outlives the wheel.
    hashed_wheel(node_table& nodes, std::size_t slots, tick now = {}) : entry_wheel(nodes, slots, now) {}
};

static_assert(timing_wheel<hashed_wheel>);

} // namespace cogwheel::COGWHEEL_ABI
