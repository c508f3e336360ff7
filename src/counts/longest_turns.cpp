// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/counts/longest_turns.hpp>

#include <algorithm>

namespace cogwheel::inline v0 {

namespace {

constexpr auto longer = [](const auto& a, const auto& b) { return a.took > b.took; };

} // namespace

// The rows are sorted, the longest one first.
void longest_turns::add(segment& s, const row& r) noexcept {
    if (s.number != number(r.ended)) s = {number(r.ended), {}, {}};
    if (r.took <= s.shortest) return;
    s.rows.back() = r;
    std::rotate(std::upper_bound(s.rows.begin(), s.rows.end() - 1, r, longer), s.rows.end() - 1, s.rows.end());
    s.shortest = s.rows.back().took;
}

std::array<long_turn, longest_turns::most> longest_turns::read(nanoseconds now) const noexcept {
    std::array<long_turn, most> turns{};
    for (const segment& s : segments_) {
        if (s.number > number(now) || number(now) - s.number >= static_cast<std::int64_t>(periods)) continue;
        for (const row& r : s.rows) {
            if (r.took <= turns.back().took) break;
            turns.back() = {r.took, r.fired, std::max(now - r.ended, nanoseconds::zero())};
            std::sort(turns.begin(), turns.end(), longer);
        }
    }
    return turns;
}

} // namespace cogwheel::inline v0
