// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The prefetch of nodes, for the loops of entry_wheel that read the nodes of a chain.
#pragma once

#include <cogwheel/wheel/detail/entry_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI::detail {

// Prefetches for the entries after `position`. always_inline: GCC drops calls of a function that only prefetches.
inline void entry_wheel::prefetch_ahead(const chunk& c, std::uint32_t position) const noexcept {
    const auto look = [&](std::uint32_t ahead) -> const entry* {
        if (position + ahead < c.count) return &c.entries[position + ahead];
        const chunk* next = c.next;
        return next != nullptr && position + ahead - c.count < next->count ? &next->entries[position + ahead - c.count]
                                                                           : nullptr;
    };
    if (const entry* e = look(2 * prefetch_distance)) nodes_.prefetch_place(e->index);
    if (const entry* e = look(prefetch_distance)) nodes_.prefetch_node(e->index);
    if (const entry* e = look(prefetch_distance / 2)) nodes_.prefetch_adjacent(e->index);
}

} // namespace cogwheel::COGWHEEL_ABI::detail
