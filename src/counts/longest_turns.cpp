// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/counts/longest_turns.hpp>

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI {

namespace {

// Moves the last element to its place. The others are sorted, the longest first.
template <class T, std::size_t N>
void sort_in_last(std::array<T, N>& turns) noexcept {
    for (std::size_t i = N - 1; i != 0 && turns[i].took > turns[i - 1].took; --i) std::swap(turns[i], turns[i - 1]);
}

} // namespace

void longest_turns::add(segment& s, const row& r) noexcept {
    if (s.number != number(r.ended)) s = {number(r.ended), {}, {}};
    if (r.took <= s.shortest) return;
    s.rows.back() = r;
    sort_in_last(s.rows);
    s.shortest = s.rows.back().took;
}

std::array<long_turn, longest_turns::most> longest_turns::read(nanoseconds now) const noexcept {
    std::array<long_turn, most> turns{};
    for (const segment& s : segments_) {
        if (s.number > number(now) || number(now) - s.number >= static_cast<std::int64_t>(periods)) continue;
        for (const row& r : s.rows) {
            if (r.took <= turns.back().took) break;
            turns.back() = {r.took, r.fired, std::max(now - r.ended, nanoseconds::zero())};
            sort_in_last(turns);
        }
    }
    return turns;
}

} // namespace cogwheel::COGWHEEL_ABI
