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

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A snapshot of the counts of a scheduler, since it was made. At every moment
/// runs_started = completed + failed + cancelled + tasks.jobs, and attempts = latency.total().
///
///     const cogwheel::task_stats s = tasks.stats();
///     if (s.latency.max() > 1s) report("the pool is too small", s.queue);
struct task_stats {
    task_counts tasks;      ///< how many tasks are in each state, and how many runs are under way
    std::size_t paused = 0; ///< tasks that task_scheduler::pause() holds; they count in `tasks` too
    std::size_t queue = 0;  ///< runs that wait for a thread of the pool: in its queue (pool_options), or in line for it

    /// Pending tasks by how far ahead their timer is, in levels of the wheel: the first level that reaches so far, else
    /// the last one. The finest level first; one element for a wheel of one level. The wheel may still hold a timer in
    /// a coarser level. The timer of a date or a cron expression is at most task_scheduler_options::recheck ahead.
    /// Tasks without a timer (paused, or after stop()) count nowhere.
    std::vector<std::size_t> by_level;

    std::uint64_t runs_started = 0;                         ///< runs that began, also those that recover() continues
    std::uint64_t completed = 0, failed = 0, cancelled = 0; ///< runs that have ended; those that stop() ends: cancelled
    std::uint64_t attempts = 0;                             ///< attempts whose job has begun
    std::uint64_t retries = 0;                              ///< of these, the attempts after a first one
    std::uint64_t timed_out = 0;                            ///< attempts that were told to stop by their time limit
    std::uint64_t missed = 0;  ///< as task_info::missed, over all tasks, also those that are forgotten or replaced
    std::uint64_t dropped = 0; ///< as task_info::dropped, in the same way

    /// From the time at which an attempt was due to the start of its job. A run is due at its point plus the trigger's
    /// jitter, a further attempt at the end of its pause. So the time in the pool's queue counts. For a run that
    /// happens late by a policy (task_misfire, or a run that waited for another one), that delay counts as well. An
    /// interrupted attempt is due again when recover() finds it. Setting the wall clock does not count as delay.
    duration_histogram latency;
    /// From the start of the job of an attempt to its end, by the wheel's clock.
    duration_histogram execution;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
