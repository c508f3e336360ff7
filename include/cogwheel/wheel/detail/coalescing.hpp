// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Chooses the tick of a timer that may expire anywhere in a range, so that fewer wake-ups serve more timers.
//
//     const cogwheel::tick due = cogwheel::detail::coalesced(wheel, cogwheel::tick{500}, cogwheel::tick{520});
//     wheel.schedule(node, due); // at a tick of the range where the wheel looks at a timer anyway, or at tick 512
#pragma once

#include <cogwheel/wheel/timing_wheel.hpp>

#include <bit>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Returns the tick of [from, to] that is divisible by the highest power of two. Timers with overlapping ranges often
/// get the same tick this way. Preconditions: from <= to.
constexpr tick roundest(tick from, tick to) noexcept {
    if (from.value == 0) return from;
    const std::uint64_t differs = (from.value - 1) ^ to.value;
    const std::uint64_t below = (std::uint64_t{1} << (std::bit_width(differs) - 1)) - 1;
    return {to.value & ~below};
}

/// Returns the tick of [from, to] that occupied() finds, at which the wheel looks at a timer anyway; else
/// roundest(from, to). Preconditions: wheel.now() < from <= to. Complexity: that of occupied().
template <timing_wheel Wheel>
tick coalesced(const Wheel& wheel, tick from, tick to) noexcept {
    const auto taken = wheel.occupied(from, to);
    return taken ? *taken : roundest(from, to);
}

} // namespace cogwheel::COGWHEEL_ABI::detail
