// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What timers cost while none of them is due.
#pragma once

#include "system_calls.hpp"
#include "workloads/live_set.hpp"

#include <asio/executor_work_guard.hpp>

namespace bench {

template <contender C>
class idle_cost_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        live_set<C> set(timers_);
        set.schedule_all(random_order(timers_, repetition), usual_delay);
        asio::io_context& io = (*set).context();
        const auto guard = asio::make_work_guard(io); // a server has more to wait for
        sample s;
        io.restart();
        const std::size_t before = sleeps();
        const stopwatch watch;
        io.run_for(period);
        const double wakes = static_cast<double>(sleeps() - before) - 1; // one is the period's end
        const double seconds = std::chrono::duration<double>(period).count();
        const double cpu = watch.cpu_ns() / 1e3;
        asio::io_context without_timers;
        const double calls = calls_of_a_period(io) - calls_of_a_period(without_timers);
        s.figures = {wakes / seconds, cpu / seconds, calls / seconds};
        note_result(s, *set);
        return s;
    }

private:
    static constexpr std::chrono::seconds period{1};

    static double calls_of_a_period(asio::io_context& io) {
        const auto guard = asio::make_work_guard(io);
        io.restart();
        return system_calls_of([&io] { io.run_for(period); });
    }
};

} // namespace bench
