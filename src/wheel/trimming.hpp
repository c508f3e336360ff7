// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Shared by the trim() of node_table and of chunk_pool. Each counts the free items of each piece of memory, and removes
// the items of wholly free pieces from its free list.
#pragma once

#include <cogwheel/detail/exceptions.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace cogwheel::inline v0::detail {

/// Returns one counter per piece, all zero, or an empty vector if there is no memory.
inline std::vector<std::uint16_t> piece_counters(std::size_t pieces) noexcept {
    COGWHEEL_TRY { return std::vector<std::uint16_t>(pieces); }
    COGWHEEL_CATCH { return {}; }
}

/// Removes the items for which stays(item) is false from a singly linked list. The others keep their order. Link is a
/// pointer or an index; `end` marks the end of the list.
template <class Link, class Next, class SetNext, class Stays>
void filter_list(Link& head, Link end, Next next, SetNext set_next, Stays stays) {
    Link last = end;
    for (Link at = std::exchange(head, end); at != end;) {
        const Link following = next(at);
        if (stays(at)) {
            if (last == end)
                head = at;
            else
                set_next(last, at);
            set_next(at, end);
            last = at;
        }
        at = following;
    }
}

} // namespace cogwheel::inline v0::detail
