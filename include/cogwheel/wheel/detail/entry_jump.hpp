// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The state of a jump: an advance() by more than a revolution, from the tick `base` to the wheel's walked_. A jump has
// two phases, which can stop after any entry:
//
// 1. It gathers the entries of all slots with a due entry. Due entries go to 256 buckets, by the highest bits of their
//    distance from `base`. The other entries go back to slots.
// 2. It takes the buckets in order. Entries of one tick need no sort, a few entries are sorted at once, and a large
//    bucket is split into 64 smaller ones first.
//
// A due entry moves about three times, and the first timers fire before the last entries are in order. Rejected: a sort
// of all due entries at once, lowest bits first. It cannot stop, and takes 118 ms for 4M timers.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/wheel/detail/entry_chain.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Entries in buckets of distances. The first level has 256 buckets. Each further level splits one bucket into 64.
class due_buckets {
public:
    static constexpr unsigned first_bits = 8, next_bits = 6;
    static constexpr std::size_t max_levels = 1 + (64 - first_bits + next_bits - 1) / next_bits;
    static constexpr std::size_t bucket_count = (1U << first_bits) + (max_levels - 1) * (1U << next_bits);

    /// Begins with one level, for distances below `end`. Preconditions: all levels are empty; end > 0.
    void begin(std::uint64_t end) noexcept {
        const auto bits = static_cast<unsigned>(std::bit_width(end - 1));
        depth_ = 0;
        open(bits, bits < first_bits ? bits : first_bits);
    }

    /// Adds an entry to the deepest level. Errors: std::bad_alloc; then nothing changes.
    void add(chunk_pool& pool, entry e, std::uint64_t distance) {
        level& l = deepest();
        buckets_[l.first + static_cast<std::size_t>(l.bucket_of(distance))].push(pool, e);
    }

    /// Returns true if all buckets are empty. Closes the deepest levels that are empty.
    bool empty() noexcept {
        for (; depth_ != 0; --depth_)
            for (level& l = deepest(); l.next < l.size; ++l.next)
                if (!buckets_[l.first + l.next].empty()) return false;
        return true;
    }

    /// Removes and returns the next bucket: its distances differ in the lowest `bits` bits only. Preconditions:
    /// !empty().
    entry_chain take(unsigned& bits) noexcept {
        [[maybe_unused]] const bool none = empty();
        COGWHEEL_ASSERT(!none);
        const level& l = deepest();
        bits = l.shift;
        return buckets_[l.first + l.next].detach();
    }

    /// Opens the next level, for the entries of the bucket that was taken last. Preconditions: take() set bits > 0, and
    /// empty() has not been called since.
    void split() noexcept {
        const unsigned bits = deepest().shift;
        open(bits, bits < next_bits ? bits : next_bits);
    }

    /// Returns the number of lowest bits in which the distances of the deepest level differ.
    unsigned bits() const noexcept {
        const level& l = levels_[depth_ - 1];
        return l.shift + static_cast<unsigned>(std::bit_width(l.size - 1));
    }

    void give_to(chunk_pool& pool) noexcept {
        for (entry_chain& bucket : buckets_) bucket.give_to(pool);
        depth_ = 0;
    }

    /// Calls f(bucket, belongs) for each bucket, in the order of take(). belongs(distance) is true in the right bucket.
    template <class F>
    void for_each(F f) const {
        for (std::size_t d = depth_; d-- != 0;) {
            const level& l = levels_[d];
            for (std::uint32_t b = 0; b < l.size; ++b)
                f(buckets_[l.first + b], [&](std::uint64_t distance) { return l.bucket_of(distance) == b; });
        }
    }

private:
    struct level {
        unsigned shift;     // a bucket spans 2^shift ticks
        std::uint32_t size; // number of buckets: a power of two
        std::uint32_t next; // all buckets before this one are empty
        std::uint32_t first;

        std::uint64_t bucket_of(std::uint64_t distance) const noexcept { return (distance >> shift) & (size - 1); }
    };

    level& deepest() noexcept { return levels_[depth_ - 1]; }

    void open(unsigned bits, unsigned digit) noexcept {
        const auto first =
            static_cast<std::uint32_t>(depth_ == 0 ? 0 : (1U << first_bits) + (depth_ - 1) * (1U << next_bits));
        levels_[depth_++] = {bits - digit, 1U << digit, 0, first};
        COGWHEEL_ASSERT(depth_ <= max_levels);
    }

    std::array<entry_chain, bucket_count> buckets_{};
    std::array<level, max_levels> levels_{};
    std::size_t depth_ = 0; // levels in use
};

struct entry_jump {
    std::uint64_t base = 0; // the ticks of entries that are not gathered yet are read relative to this one

    std::size_t ring = 0; // all slots before this one are gathered; ring 0: the first one
    std::size_t slot = 0;

    // Phase 1: entries that were taken out of their slots. Phase 2: the bucket that is being split.
    entry_chain taken;
    std::uint32_t position = 0; // in the first chunk of `taken`

    due_buckets due;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
