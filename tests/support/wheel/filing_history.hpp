// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How early next_due() may be. A wheel that pushes timers back lazily may wake for a deadline that the timer, or the
// timer that had its node before, was given once; it must never wake for anything else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cogwheel_tests {

/// The deadlines that one node was ever given and that are still ahead.
class filing_history {
public:
    static constexpr std::uint64_t horizon = (std::uint64_t{1} << 31) - 1; // farther timers are filed in steps of it

    /// A deadline was set while the wheel stood at `walked`, or later.
    void add(std::uint64_t deadline, std::uint64_t walked) {
        filings_.push_back({deadline, std::min(deadline, walked + horizon)});
    }

    void forget() { filings_.clear(); }

    /// The earliest tick after `now` at which something of this node may be filed.
    std::uint64_t earliest(std::uint64_t now) {
        std::erase_if(filings_, [&](const filing& f) { return f.deadline <= now; });
        std::uint64_t best = ~std::uint64_t{0};
        for (const filing& f : filings_) best = std::min(best, std::max(f.first_step, now + 1));
        return best;
    }

private:
    struct filing {
        std::uint64_t deadline, first_step;
    };

    std::vector<filing> filings_;
};

} // namespace cogwheel_tests
