// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Eight hours pass at once, as when a machine has slept; every timer is due later than that.
#pragma once

#include "workloads/live_set.hpp"

namespace bench {

template <contender C>
class jump_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        live_set<C> set(timers_);
        splitmix64 random(repetition);
        set.each(random_order(timers_, repetition), [&](C& c, typename C::handle& h, std::uint32_t n) {
            return c.schedule(h, n, milliseconds(hours_9 + random.below(hours_9))), false;
        });
        sample s;
        set.note_memory(s);
        const stopwatch watch;
        (*set).leap(std::chrono::hours(8));
        note_times(s, watch, 1);
        note_result(s, *set);
        return s;
    }

private:
    static constexpr std::uint32_t hours_9 = 9 * 3600 * 1000;
};

} // namespace bench
