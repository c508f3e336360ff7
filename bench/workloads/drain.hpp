// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What stays in memory after a burst: megabytes of the process that are resident before it, with all timers live, when
// all have fired, and after trim(), if the contender has it. The user's handles are gone by then.
#pragma once

#include "workloads/live_set.hpp"

#include <algorithm>

namespace bench {

template <firing_contender C>
class drain_leg final : public timers_leg {
public:
    explicit drain_leg(std::size_t timers) : timers_leg(timers) { return_freed_memory(); }

    sample repeat(std::uint64_t) override {
        C contender;
        sample s;
        s.figures[0] = megabytes();
        {
            auto handles = make_handles(contender, timers_);
            std::uint32_t next = 0;
            const stopwatch scheduling;
            each(contender, [&] { contender.schedule(handles[next], next, far_delay), ++next; });
            s.figures[1] = megabytes();
            const auto expected = milliseconds(static_cast<std::int64_t>(scheduling.wall_ns() * 1e-6) + 50);
            const auto start = contender.after(std::max(5 * expected, milliseconds(timers_ / 500))); // real or virtual
            next = 0;
            each(contender, [&] { contender.move_to(handles[next], next, start), ++next; });
            if (!contender.reach(start)) throw std::runtime_error("too slow to set all timers before the first is due");
            contender.fire_until(start + milliseconds(1));
        }
        s.figures[2] = megabytes();
        if constexpr (requires { contender.trim(); }) contender.trim();
        s.figures[3] = megabytes();
        note_result(s, contender);
        return s;
    }

private:
    static double megabytes() { return static_cast<double>(resident()) / 1e6; }

    template <class F>
    void each(C& contender, F f) {
        for (std::size_t from = 0; from < timers_; from += batch)
            contender.work(batch, [&] {
                for (std::size_t i = from; i < std::min(from + batch, timers_); ++i) f();
            });
    }
};

} // namespace bench
