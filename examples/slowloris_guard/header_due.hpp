// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Until when a header may take, moved by each piece of it. Arithmetic only: no clock, no timer.
//
// Time is bought: a client begins with the grace period, each byte buys 1/rate seconds, and nobody may own more than
// the grace period. So the client is late when there is a stretch of time, wherever it began, in which fewer bytes came
// than the rate demands of what the stretch has beyond the grace period: a sliding window in O(1), of all lengths at
// once. Had the savings no bound, a long first piece would pay for the silence after it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace guard {

using clock = std::chrono::steady_clock;

struct demands {
    std::chrono::nanoseconds within = std::chrono::seconds{10}; // the whole header, at any rate
    std::chrono::nanoseconds grace = std::chrono::seconds{2};   // how long nothing at all may come
    std::int64_t rate = 100;                                    // bytes a second, above zero
};

class header_due {
public:
    /// Lifetime: that of `demanded`.
    header_due(const demands& demanded, clock::time_point now)
        : demands_{demanded}, last_{now + demanded.within}, at_{std::min(last_, now + demanded.grace)} {}

    /// Never moves back, if `now` does not.
    clock::time_point at() const { return at_; }

    /// Preconditions: `bytes` is no more than a header has, so that nothing overflows.
    void received(std::size_t bytes, clock::time_point now) {
        const auto bought = std::chrono::nanoseconds{std::chrono::seconds{bytes}} / demands_.rate;
        at_ = std::min({at_ + bought, now + demands_.grace, last_});
    }

private:
    const demands& demands_;
    clock::time_point last_;
    clock::time_point at_;
};

} // namespace guard
