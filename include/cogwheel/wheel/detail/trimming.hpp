// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the tables' trim() share: they count what is free of each piece of memory, and take the pieces that are free as a whole from
// their free lists.
#pragma once

#include <cogwheel/wheel/detail/exceptions.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace cogwheel::detail {

/// One a piece, all zero; none if there is no memory for them.
inline std::vector<std::uint16_t> piece_counters(std::size_t pieces) noexcept {
    COGWHEEL_TRY { return std::vector<std::uint16_t>(pieces); }
    COGWHEEL_CATCH { return {}; }
}

/// Takes from a singly linked list what does not stay; the others keep their order. Link: pointer or index; `end` is the last one's next.
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

} // namespace cogwheel::detail
