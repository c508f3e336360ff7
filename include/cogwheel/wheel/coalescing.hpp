// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which tick to choose for a timer that may expire anywhere within a range, so that fewer wake-ups serve more timers.
#pragma once

#include <cogwheel/wheel/timing_wheel.hpp>

#include <bit>

namespace cogwheel {

/// The tick of [from, to] that the most powers of two divide: what others choose, too, who know nothing of each other. As the slack of
/// Linux's timers rounds. Preconditions: from <= to.
constexpr tick roundest(tick from, tick to) noexcept {
    if (from.value == 0) return from;
    const std::uint64_t differs = (from.value - 1) ^ to.value;
    const std::uint64_t below = (std::uint64_t{1} << (std::bit_width(differs) - 1)) - 1;
    return {to.value & ~below};
}

/// `at` rounded up to a multiple of `ticks`; saturates. Preconditions: ticks > 0.
constexpr tick round_up(tick at, std::uint64_t ticks) noexcept {
    const std::uint64_t over = at.value % ticks;
    return over == 0 ? at : at + (ticks - over);
}

/// A tick of [from, to] at which the wheel has to look at some timer anyway, else the roundest one.
/// Complexity: that of occupied(). Preconditions: wheel.now() < from <= to.
template <timing_wheel Wheel>
tick coalesced(const Wheel& wheel, tick from, tick to) noexcept {
    const auto taken = wheel.occupied(from, to);
    return taken ? *taken : roundest(from, to);
}

} // namespace cogwheel
