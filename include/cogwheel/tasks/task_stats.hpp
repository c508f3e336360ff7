// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of a task scheduler. docs/observe.md has them in one table, with the metrics that show them.
#pragma once

#include <cogwheel/counts/duration_histogram.hpp>
#include <cogwheel/tasks/task_info.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cogwheel::inline v0 {

/// A snapshot of the counts of a scheduler, since it was made. At every moment
/// runs_started = completed + failed + cancelled + tasks.jobs.
///
///     const cogwheel::task_stats s = tasks.stats();
///     if (s.latency.max() > 1s) report("the pool is too small", s.queue);
struct task_stats {
    task_counts tasks;      ///< how many tasks are in each state, and how many runs are under way
    std::size_t paused = 0; ///< tasks that task_scheduler::pause() holds; they count in `tasks` too
    std::size_t queue = 0;  ///< runs that wait for a thread of the pool

    /// Pending tasks by the level of the wheel that holds their timer: how far ahead they are due. The finest level
    /// first; one element for a wheel of one level. Tasks without a timer (paused, or queued) count nowhere.
    std::vector<std::size_t> by_level;

    std::uint64_t runs_started = 0;
    std::uint64_t completed = 0, failed = 0, cancelled = 0; ///< runs that have ended
    std::uint64_t attempts = 0;                             ///< attempts whose job has begun
    std::uint64_t retries = 0;                              ///< of these, the attempts after a first one
    std::uint64_t timed_out = 0;                            ///< attempts that were told to stop by their time limit
    std::uint64_t missed = 0;                               ///< as task_info::missed, over all tasks
    std::uint64_t dropped = 0;                              ///< as task_info::dropped, over all tasks

    duration_histogram latency;   ///< from the time at which an attempt was due to the start of its job
    duration_histogram execution; ///< from the start of the job of an attempt to its end
};

} // namespace cogwheel::inline v0
