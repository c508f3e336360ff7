// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers of up to 30 days in ticks of a millisecond: the range for which levels were invented.
#pragma once

#include "workloads/live_set.hpp"

#include <stdexcept>

namespace bench {

template <contender C>
class month_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        const numbers later = random_numbers(timers_, static_cast<std::size_t>(month.count()) - 1, repetition);
        live_set<C> set(timers_);
        sample s;
        const stopwatch watch;
        set.each(numbers_in_order(timers_), [&](C& c, typename C::handle& h, std::uint32_t n) {
            return c.schedule(h, n, milliseconds(1 + later[n])), false;
        });
        set.note_memory(s);
        for (milliseconds passed{0}; passed < month; passed += step) (*set).leap(step);
        note_times(s, watch, timers_);
        note_result(s, *set);
        if (s.result.fired.fired != timers_) throw std::runtime_error("not every timer fired, or one did twice");
        return s;
    }

private:
    static constexpr milliseconds month{std::chrono::hours(24 * 30)};
    static constexpr milliseconds step{60'000};
};

} // namespace bench
