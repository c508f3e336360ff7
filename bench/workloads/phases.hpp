// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A live set that grows, or shrinks.
#pragma once

#include "workloads/live_set.hpp"

namespace bench {

enum class phase { none, schedule, cancel };

template <contender C, phase Measured>
class phase_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        using handle = typename C::handle;
        const numbers first = random_order(timers_, 2 * repetition + 1);
        const numbers second = random_order(timers_, 2 * repetition + 2);
        live_set<C> set(timers_); // last: what is allocated from here on counts as the contender's
        sample s;
        const stopwatch schedule_watch;
        set.schedule_all(first, usual_delay);
        if (Measured == phase::schedule) note_times(s, schedule_watch, timers_);
        set.note_memory(s);
        if (Measured == phase::cancel) {
            const stopwatch cancel_watch;
            s.result.cancelled = set.each(second, [](C& c, handle& h, std::uint32_t) { return c.cancel(h); });
            note_times(s, cancel_watch, timers_);
        }
        note_result(s, *set);
        return s;
    }
};

} // namespace bench
