// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A context, timers and a wheel for each thread: nothing is shared. All threads together have N timers, and do as many
// operations as one thread alone. What is measured ends when the last thread has done its part.
#pragma once

#include "contenders/asio_loop.hpp"
#include "workloads/rounds.hpp"

#include <array>
#include <barrier>
#include <optional>
#include <thread>
#include <vector>

namespace bench {

template <contender C, class Operation, int Threads>
class per_thread_leg final : public timers_leg {
public:
    explicit per_thread_leg(std::size_t timers) : timers_leg(timers) { unpin(); }

    sample repeat(std::uint64_t repetition) override {
        const std::uint64_t operations = live_set_operations(timers_);
        sample s;
        std::optional<stopwatch> watch;
        std::array<outcome, Threads> results;
        // The last to arrive reads the clock, before it lets the others go.
        std::barrier begin(Threads, [&]() noexcept { watch.emplace(); });
        std::barrier end(Threads, [&]() noexcept { note_times(s, *watch, operations); });
        const auto run = [&](std::size_t which) {
            const std::size_t timers = timers_ / Threads;
            const std::uint64_t seed = 2 * repetition + (static_cast<std::uint64_t>(which) << 32);
            const numbers warm_up = random_numbers(operations / Threads / 4, timers, seed + 1);
            const numbers measured = random_numbers(operations / Threads, timers, seed + 2);
            live_set<C> set(timers); // in its thread, as its memory is then
            set.schedule_all(random_order(timers, 0), usual_delay);
            set.each(warm_up, &Operation::template apply<C>);
            begin.arrive_and_wait();
            outcome& result = results[which];
            result.cancelled = set.each(measured, &Operation::template apply<C>);
            end.arrive_and_wait();
            result.pending = (*set).pending();
            result.fired = (*set).fired();
        };
        std::vector<std::thread> others;
        for (std::size_t i = 1; i < Threads; ++i) others.emplace_back(run, i);
        run(0);
        for (std::thread& t : others) t.join();
        for (const outcome& result : results) {
            s.result.cancelled += result.cancelled;
            s.result.pending += result.pending;
            s.result.fired.fired += result.fired.fired;
        }
        return s;
    }
};

} // namespace bench
