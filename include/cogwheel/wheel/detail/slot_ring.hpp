// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One level of a wheel: a ring of slots. A slot is a chain of entries and their earliest tick.
#pragma once

#include <cogwheel/wheel/detail/entry_chain.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail {

/// A bitmap of the slots that hold entries. A search reads 64 slots at a time.
class occupancy {
public:
    /// Preconditions: slots is a power of two.
    explicit occupancy(std::size_t slots) : mask_(slots - 1), words_((slots + 63) / 64) {}

    void set(std::size_t slot) noexcept { words_[slot / 64] |= std::uint64_t{1} << (slot % 64); }
    void reset(std::size_t slot) noexcept { words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64)); }
    bool test(std::size_t slot) const noexcept { return ((words_[slot / 64] >> (slot % 64)) & 1) != 0; }
    void clear() noexcept { words_.assign(words_.size(), 0); }

    /// Returns the number of slots from `from` to the next occupied one, across the end of the ring: 0 if `from` is
    /// occupied, and at most `limit`. Preconditions: limit <= slots.
    std::size_t distance(std::size_t from, std::size_t limit) const noexcept {
        std::size_t d = 0;
        while (d < limit) {
            const std::size_t slot = (from + d) & mask_;
            const std::uint64_t rest = words_[slot / 64] >> (slot % 64);
            if (rest != 0) {
                d += static_cast<std::size_t>(std::countr_zero(rest));
                return d < limit ? d : limit;
            }
            d += mask_ < 64 ? mask_ + 1 - slot : 64 - slot % 64;
        }
        return limit;
    }

private:
    std::size_t mask_;
    std::vector<std::uint64_t> words_;
};

struct slot {
    entry_chain chain;
    std::uint64_t low = ~std::uint64_t{0}; // lower bound of the entries' ticks
    std::uint32_t entries = 0;
};

struct slot_ring {
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    /// Makes a ring of `count` slots (rounded up to a power of two) of `length` ticks each. make() allocates the slots.
    slot_ring(std::size_t count, std::uint64_t length)
        : mask(std::bit_ceil(count) - 1),
          occupied(mask + 1),
          slot_ticks(length),
          shift(std::bit_ceil(length) == length ? std::countr_zero(length) : -1) {}

    std::size_t size() const noexcept { return mask + 1; }

    /// Returns how many slots the ring has passed at tick `at`, in all revolutions.
    std::uint64_t turned(std::uint64_t at) const noexcept { return shift >= 0 ? at >> shift : at / slot_ticks; }
    /// Return the slot of tick `at`, and the one that the ring reaches after `turns` slots.
    std::size_t place(std::uint64_t at) const noexcept { return wrapped(turned(at)); }
    std::size_t wrapped(std::uint64_t turns) const noexcept { return static_cast<std::size_t>(turns) & mask; }

    /// Returns the first tick of the slot to which `at` belongs.
    std::uint64_t start_of(std::uint64_t at) const noexcept { return turned(at) * slot_ticks; }

    /// Allocates the slots, once. Errors: std::bad_alloc; then nothing changes.
    void make() {
        if (slots.empty()) slots = std::vector<slot>(size());
    }

    /// Adds an entry for tick `at` to slot `s`. Preconditions: make(). Errors: std::bad_alloc; then nothing changes.
    void put(chunk_pool& chunks, std::size_t s, entry e, std::uint64_t at) {
        slot& to = slots[s];
        to.chain.push(chunks, e);
        if (to.entries++ == 0) occupied.set(s);
        if (at < to.low) to.low = at;
    }

    /// Empties slot `s` and returns its entries.
    entry_chain take(std::size_t s) noexcept {
        slot& from = slots[s];
        from.low = never;
        from.entries = 0;
        occupied.reset(s);
        return from.chain.detach();
    }

    /// Searches `count` slots, from the slot of tick `at` on. Calls f(slot index, first tick of the slot) for each slot
    /// with entries, until f returns false.
    template <class F>
    void search(std::uint64_t at, std::uint64_t count, F f) const {
        const std::uint64_t first = turned(at);
        const std::size_t limit = count < size() ? static_cast<std::size_t>(count) : size();
        for (std::size_t d = 0; d < limit; ++d) {
            d += occupied.distance(wrapped(first + d), limit - d);
            if (d >= limit || !f(wrapped(first + d), (first + d) * slot_ticks)) return;
        }
    }

    std::size_t footprint() const noexcept { return slots.size() * sizeof(slot) + size() / 8; }

    std::size_t mask;
    std::vector<slot> slots;
    occupancy occupied;
    std::uint64_t slot_ticks;
    int shift;                  // replaces the division by slot_ticks if that is a power of two; else -1
    std::uint64_t cascades = 0; // slots whose entries have moved to nearer rings
};

} // namespace cogwheel::COGWHEEL_ABI::detail
