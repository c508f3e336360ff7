// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How late timers fire that are spread over a second, on a loop that does nothing else.
#pragma once

#include "workloads/percentiles.hpp"
#include "workloads/timed_firing.hpp"

#include <algorithm>

namespace bench {

template <firing_contender C>
class lateness_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        timed_firing<C> firing(timers_);
        firing.arm(spread, repetition);
        const stopwatch watch;
        (*firing).fire_until(firing.start() + spread);
        sample s;
        note_times(s, watch, timers_);
        note_result(s, *firing);
        std::vector<double>& late = firing.late();
        const auto early = std::count_if(late.begin(), late.end(), [](double ns) { return ns < 0; });
        s.figures = {static_cast<double>(early), percentile(late, 50) / 1e3, percentile(late, 99) / 1e3,
                     percentile(late, 100) / 1e3};
        return s;
    }

private:
    static constexpr std::chrono::seconds spread{1};
};

} // namespace bench
