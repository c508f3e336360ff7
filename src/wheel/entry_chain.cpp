// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The rarely called functions of the chunk pool, and the sort for a jump: a radix sort with digits of 8 bits.
#include "trimming.hpp"

#include <cogwheel/wheel/detail/entry_chain.hpp>

#include <algorithm>
#include <new>

namespace cogwheel::inline v0::detail {

void chunk_pool::add_group() {
    if (groups_.size() == groups_.capacity()) groups_.reserve(std::max<std::size_t>(16, 2 * groups_.size()));
    groups_.push_back({reinterpret_cast<chunk*>(memory_.take(group_size * sizeof(chunk))), 0});
}

chunk* chunk_pool::carve() {
    while (carving_ < groups_.size() && groups_[carving_].carved == group_size) ++carving_;
    if (carving_ == groups_.size()) add_group();
    group& from = groups_[carving_];
    chunk* c = ::new (static_cast<void*>(from.chunks + from.carved)) chunk;
    ++from.carved;
    c->group = static_cast<std::uint32_t>(carving_);
    return c;
}

void chunk_pool::reserve(std::size_t count) {
    std::size_t room = 0;
    for (const group& g : groups_) room += group_size - g.carved;
    for (const chunk* c = free_; c != nullptr && room < count; c = c->next) ++room;
    for (; room < count; room += group_size) add_group();
}

void chunk_pool::trim() noexcept {
    std::vector<std::uint16_t> free = piece_counters(groups_.size()); // the number of free chunks per group
    if (free.empty()) return;
    for (const chunk* c = free_; c != nullptr; c = c->next) ++free[c->group];
    const auto goes = [&](std::size_t g) { return groups_[g].carved == free[g]; };
    filter_list(
        free_, static_cast<chunk*>(nullptr), [](const chunk* c) { return c->next; },
        [](chunk* c, chunk* next) { c->next = next; }, [&](const chunk* c) { return !goes(c->group); });
    slab_memory::return_run unused(memory_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (!goes(g)) continue;
        groups_[g].carved = 0;
        unused.add(reinterpret_cast<std::byte*>(groups_[g].chunks), group_size * sizeof(chunk));
    }
    carving_ = 0;
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

} // namespace cogwheel::inline v0::detail
