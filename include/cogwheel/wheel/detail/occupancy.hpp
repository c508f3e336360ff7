// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which slots hold entries: one bit a slot, searched a word at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cogwheel::detail {

class occupancy {
public:
    /// Preconditions: slots is a power of two.
    explicit occupancy(std::size_t slots) : mask_(slots - 1), words_((slots + 63) / 64) {}

    void set(std::size_t slot) noexcept { words_[slot / 64] |= std::uint64_t{1} << (slot % 64); }
    void reset(std::size_t slot) noexcept { words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64)); }
    bool test(std::size_t slot) const noexcept { return ((words_[slot / 64] >> (slot % 64)) & 1) != 0; }
    void clear() noexcept { words_.assign(words_.size(), 0); }

    /// How many slots after `from` (going round) the next occupied one lies; `limit` if that is `limit` or more.
    /// Preconditions: limit <= slots.
    std::size_t distance(std::size_t from, std::size_t limit) const noexcept {
        std::size_t d = 0;
        while (d < limit) {
            const std::size_t slot = (from + d) & mask_;
            const std::uint64_t rest = words_[slot / 64] >> (slot % 64);
            if (rest != 0) {
                d += static_cast<std::size_t>(std::countr_zero(rest));
                return d < limit ? d : limit;
            }
            d += std::min<std::size_t>(64 - slot % 64, mask_ + 1 - slot);
        }
        return limit;
    }

private:
    std::size_t mask_;
    std::vector<std::uint64_t> words_;
};

} // namespace cogwheel::detail
