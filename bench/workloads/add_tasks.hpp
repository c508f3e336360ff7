// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A scheduler is given its tasks, one by one: what the thousandth costs, and the hundred-thousandth.
#pragma once

#include "contenders/tasks.hpp"
#include "workloads/live_set.hpp"

#include <optional>
#include <stdexcept>

namespace bench {

template <class Tasks>
class add_tasks_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t) override {
        std::optional<Tasks> tasks(std::in_place);
        sample s;
        const stopwatch watch;
        for (std::size_t n = 0; n < timers_; ++n) tasks->add(n);
        note_times(s, watch, timers_);
        if (tasks->pending() != timers_) throw std::runtime_error("not every task was added");
        s.result.pending = timers_;
        return s;
    }
};

} // namespace bench
