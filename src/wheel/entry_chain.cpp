// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The cold half of the chunk pool, and the sort that a long jump needs.
#include <cogwheel/wheel/detail/entry_chain.hpp>

namespace cogwheel::detail {

chunk* chunk_pool::carve() {
    if (carved_ == slabs_.size() * slab_size) slabs_.push_back(std::make_unique_for_overwrite<chunk[]>(slab_size));
    chunk* c = &slabs_[carved_ / slab_size][carved_ % slab_size];
    ++carved_;
    return c;
}

void chunk_pool::reserve(std::size_t count) {
    std::size_t room = slabs_.size() * slab_size - carved_;
    for (const chunk* c = free_; c != nullptr && room < count; c = c->next) ++room;
    for (; room < count; room += slab_size) slabs_.push_back(std::make_unique_for_overwrite<chunk[]>(slab_size));
}

void entry_chain::sort(chunk_pool& pool, std::uint32_t base, unsigned bits) {
    constexpr unsigned digit_bits = 8;
    for (unsigned shift = 0; shift < bits; shift += digit_bits) {
        std::array<entry_chain, 1U << digit_bits> digits{};
        while (!empty()) {
            chunk* c = pop_front();
            for (std::uint32_t i = 0; i < c->count; ++i) {
                const entry e = c->entries[i];
                digits[((e.tick - base) >> shift) % digits.size()].push(pool, e);
            }
            pool.give(c);
        }
        for (entry_chain& d : digits) append(d);
    }
}

} // namespace cogwheel::detail
