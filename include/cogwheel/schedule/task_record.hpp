// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What outlives the process of a task: all that a scheduler needs to go on with it, but the job, which is found by its name.
#pragma once

#include <cogwheel/schedule/task.hpp>

#include <vector>

namespace cogwheel {

/// A run that has not ended.
struct task_run_record {
    task_trigger::wall_point scheduled{};               ///< when it was due
    std::uint32_t attempt = 0;                          ///< 1, 2 ...; 0: it waits for the run before it
    std::optional<task_trigger::wall_point> retry_at{}; ///< when that attempt is to be made; none: it was running

    friend bool operator==(const task_run_record&, const task_run_record&) = default;
};

struct task_record {
    cogwheel::task task;
    std::int64_t runs_left = 0;
    std::optional<task_trigger::wall_point> next{}; ///< when its next run is due, if there is one
    std::vector<task_run_record> runs{};
};

} // namespace cogwheel
