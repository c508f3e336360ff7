// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One level of a wheel: a ring of slots, each a chain of entries and the earliest tick in it.
#pragma once

#include <cogwheel/wheel/detail/entry_chain.hpp>
#include <cogwheel/wheel/detail/occupancy.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cogwheel::detail {

struct slot {
    entry_chain chain;
    std::uint64_t low = ~std::uint64_t{0}; // no entry is filed before this tick
    std::uint32_t entries = 0;
};

struct slot_ring {
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    /// Slots of `length` ticks each, `count` of them rounded up to a power of two. They are made by make(), or by the first put().
    slot_ring(std::size_t count, std::uint64_t length)
        : mask(std::bit_ceil(count) - 1),
          occupied(mask + 1),
          slot_ticks(length),
          shift(std::has_single_bit(length) ? std::countr_zero(length) : -1) {}

    std::size_t size() const noexcept { return mask + 1; }

    /// How many slots the ring has passed at tick `at`, revolutions included.
    std::uint64_t turned(std::uint64_t at) const noexcept { return shift >= 0 ? at >> shift : at / slot_ticks; }
    std::size_t place(std::uint64_t at) const noexcept { return turned(at) & mask; }

    /// The first tick of the slot to which `at` belongs.
    std::uint64_t start_of(std::uint64_t at) const noexcept { return turned(at) * slot_ticks; }

    /// Errors: std::bad_alloc; nothing changes.
    void make() {
        if (slots.empty()) slots.resize(size());
    }

    /// Preconditions: made. Errors: std::bad_alloc; nothing changes.
    void put(chunk_pool& chunks, std::size_t s, entry e, std::uint64_t at) {
        slot& to = slots[s];
        to.chain.push(chunks, e);
        if (to.entries++ == 0) occupied.set(s);
        to.low = std::min(to.low, at);
    }

    entry_chain take(std::size_t s) noexcept {
        slot& from = slots[s];
        from.low = never;
        from.entries = 0;
        occupied.reset(s);
        return from.chain.detach();
    }

    /// Calls f(slot index, its first tick) for the slots with entries among `count` slots, from that of `at` on, until f returns false.
    template <class F>
    void search(std::uint64_t at, std::uint64_t count, F f) const {
        const std::uint64_t first = turned(at);
        const auto limit = static_cast<std::size_t>(std::min<std::uint64_t>(count, size()));
        for (std::size_t d = 0; d < limit; ++d) {
            d += occupied.distance((first + d) & mask, limit - d);
            if (d >= limit || !f((first + d) & mask, (first + d) * slot_ticks)) return;
        }
    }

    std::size_t footprint() const noexcept { return slots.size() * sizeof(slot) + size() / 8; }

    std::size_t mask;
    std::vector<slot> slots;
    occupancy occupied;
    std::uint64_t slot_ticks;
    int shift; // a division by slot_ticks, where that is a power of two
};

} // namespace cogwheel::detail
