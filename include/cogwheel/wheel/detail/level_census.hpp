// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/wheel/timing_wheel.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail {

/// One level of a wheel, as far as its slots have been counted.
struct level_census {
    std::uint64_t slot_ticks = 0; ///< the length of a slot
    std::uint64_t slots = 0;      ///< all slots of the level; 0: it has had no entry yet
    std::uint64_t reach = 0;      ///< the ticks of one revolution, also before the first entry
    std::uint64_t occupied = 0;   ///< of the slots counted: those that hold an entry
    std::uint64_t fullest = 0;    ///< the number of entries in the slot that holds most
    std::uint64_t entries = 0;    ///< live and dead ones
    std::uint64_t cascades = 0;   ///< slots whose entries have moved to the levels below

    /// If not null, count_slots() also adds the entries of slot s to groups[s >> group_bits]. The caller owns the
    /// array, which is large enough for all slots of the level.
    std::uint64_t* groups = nullptr;
    unsigned group_bits = 0;
};

/// A timing_wheel that reports what it holds. detail/entry_wheel.hpp documents the functions. A wheel of another type
/// need not have them: the counts of its entries and slots are then missing.
template <class W>
concept counted_wheel = timing_wheel<W> && requires(const W& wheel, std::size_t n, level_census& census, tick t) {
    { wheel.entries() } noexcept -> std::convertible_to<std::uint64_t>;
    { wheel.sweeps() } noexcept -> std::convertible_to<std::uint64_t>;
    { wheel.footprint() } noexcept -> std::convertible_to<std::uint64_t>;
    { wheel.due(t, n) } noexcept -> std::convertible_to<std::uint64_t>;
    { wheel.levels() } noexcept -> std::same_as<std::size_t>;
    { wheel.count_slots(n, n, n, census) } noexcept -> std::same_as<bool>;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
