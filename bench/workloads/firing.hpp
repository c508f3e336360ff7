// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Expiry.
#pragma once

#include "workloads/live_set.hpp"

namespace bench {

/// All N timers fire, each at a random moment within so many milliseconds: with one, that is one tick for those who
/// have ticks of that size, and a million deadlines for those who keep them exactly. They were moved there in random
/// order, so that the order of firing is not the order in memory.
template <firing_contender C, int SpreadMilliseconds>
class fire_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        using handle = typename C::handle;
        const numbers order = random_order(timers_, repetition + 1);
        const numbers later = random_numbers(timers_, static_cast<std::size_t>(spread.count()) * 1000, repetition + 2);
        for (;;) {
            live_set<C> set(timers_);
            sample s;
            const stopwatch scheduling;
            set.schedule_all(numbers_in_order(timers_), far_delay);
            set.note_memory(s);
            // Where time is real, everything has to be in place before the first is due.
            const auto expected = milliseconds(static_cast<std::int64_t>(scheduling.wall_ns() * 1e-6) + 10);
            const auto start = (*set).after(patience_ * expected);
            set.each(order, [&](C& c, handle& h, std::uint32_t n) {
                return c.move_to(h, n, start + std::chrono::microseconds(later[n])), false;
            });
            if (!(*set).reach(start)) {
                patience_ *= 2;
                continue;
            }
            const stopwatch watch;
            (*set).fire_until(start + spread);
            note_times(s, watch, timers_);
            note_result(s, *set);
            if (s.result.fired.fired != timers_) throw std::runtime_error("not every timer fired, or one did twice");
            return s;
        }
    }

private:
    static constexpr milliseconds spread{SpreadMilliseconds};

    int patience_ = 3;
};

} // namespace bench
