// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The longest turn: how long one poll_one() holds the loop, while no other handler can run. operation_times.hpp says
// how it is measured; here "own max" is the least of the maxima of three runs.
//
// All timers are due within one millisecond, and fire; or all were due then, and have been pushed back to +30 s before:
// a wheel that moves timers lazily has to look at each of them.
#pragma once

#include "workloads/live_set.hpp"
#include "workloads/operation_times.hpp"

#include <asio/io_context.hpp>

#include <stdexcept>

namespace bench {

enum class at_expiry { fire, pushed_back };

template <firing_contender C, at_expiry What>
class worst_turn_leg final : public timers_leg {
    using handle = typename C::handle;
    using clock = std::chrono::steady_clock;

public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        operation_times times(0);
        sample s;
        double turns = 0;
        for (int run = 0; run < operation_times::runs;) {
            live_set<C> set(timers_);
            if (!arm(set, repetition)) {
                patience_ *= 2;
                continue;
            }
            times.start_run();
            turns += static_cast<double>(poll(set, times));
            s.result.pending += (*set).pending();
            s.result.fired.fired += (*set).fired().fired;
            ++run;
        }
        times.note_mean(s);
        s.figures = times.figures(1e3, times.least_largest());
        s.figures[6] = turns / operation_times::runs;
        return s;
    }

private:
    // False: some were due too soon.
    bool arm(live_set<C>& set, std::uint64_t repetition) {
        const numbers order = random_order(timers_, repetition + 1);
        const numbers later = random_numbers(timers_, 1000, repetition + 2);
        const stopwatch scheduling;
        set.schedule_all(numbers_in_order(timers_), far_delay);
        const auto expected = milliseconds(static_cast<std::int64_t>(scheduling.wall_ns() * 1e-6) + 10);
        const auto start = (*set).after(patience_ * expected);
        set.each(order, [&](C& c, handle& h, std::uint32_t n) {
            return c.move_to(h, n, start + std::chrono::microseconds(later[n])), false;
        });
        if constexpr (What == at_expiry::pushed_back)
            set.each(order, [](C& c, handle& h, std::uint32_t n) { return c.move(h, n, usual_delay), false; });
        return (*set).reach(start);
    }

    // Until all have fired, or nothing has happened for some ticks. Returns the number of turns.
    std::size_t poll(live_set<C>& set, operation_times& times) const {
        asio::io_context& io = (*set).context();
        std::size_t turns = 0;
        clock::time_point last = clock::now();
        for (bool ends = false; !ends;) {
            io.restart();
            times.batch([&] {
                const auto from = clock::now();
                const std::size_t ran = io.poll_one();
                const auto to = clock::now();
                if (ran == 0) return;
                times.add(from, to);
                last = to;
                ++turns;
            });
            if constexpr (What == at_expiry::fire)
                ends = (*set).fired().fired >= timers_;
            else
                ends = clock::now() - last > milliseconds(50);
        }
        if (What == at_expiry::fire && (*set).fired().fired != timers_) throw std::runtime_error("a timer fired twice");
        return turns;
    }

    int patience_ = 4;
};

} // namespace bench
