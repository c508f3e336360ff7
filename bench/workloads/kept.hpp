// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers of 30 s that are pushed back before they are due, for ever, as those of busy connections: what they cost
// beside the push-backs, which are the workload `touch`. Every timer is pushed back once a second, in random order.
#pragma once

#include "workloads/live_set.hpp"

namespace bench {

/// In virtual time. The figure is the share of a core that passing time takes, in per cent.
template <movable_contender C>
class kept_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        live_set<C> set(timers_);
        set.schedule_all(random_order(timers_, repetition), usual_delay);
        const numbers order = random_order(timers_, repetition + 1);
        double passing_ns = 0;
        for (int second = 0; second < warm_up + measured; ++second) {
            for (std::size_t slice = 0; slice < slices; ++slice) {
                const std::size_t to = timers_ * (slice + 1) / slices;
                for (std::size_t i = timers_ * slice / slices; i < to; ++i)
                    set.apply(order[i], [](C& c, typename C::handle& h, std::uint32_t n) {
                        c.move(h, n, usual_delay);
                        return false;
                    });
                const stopwatch watch;
                (*set).leap(milliseconds(1000 / slices));
                if (second >= warm_up) passing_ns += watch.cpu_ns();
            }
        }
        sample s;
        s.figures = {passing_ns / (measured * 1e9) * 100};
        note_result(s, *set);
        return s;
    }

private:
    static constexpr int warm_up = 35, measured = 60; // seconds
    static constexpr std::size_t slices = 100;        // of a second
};

} // namespace bench
