// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What has happened to a scheduler's runs and attempts since it was made.
#pragma once

#include <cogwheel/tasks/task_stats.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The running counts of a task scheduler. Durations come from the wheel's clock: the wall clock may be set meanwhile.
/// Complexity: O(1) for each function; no allocation. Thread safety: under the scheduler's lock.
class task_tally {
public:
    using nanoseconds = std::chrono::nanoseconds;

    void runs_began(std::uint64_t runs) noexcept { totals_.runs_started += runs; }
    void run_ended(task_state how) noexcept {
        ++(how == task_state::completed ? totals_.completed
           : how == task_state::failed  ? totals_.failed
                                        : totals_.cancelled);
    }
    /// Counts runs that did not happen.
    void runs_left_out(std::uint64_t missed, std::uint64_t dropped) noexcept {
        totals_.missed += missed;
        totals_.dropped += dropped;
    }

    void attempt_began(std::uint32_t number, nanoseconds latency) noexcept {
        ++totals_.attempts;
        if (number > 1) ++totals_.retries;
        totals_.latency.record(latency);
    }
    void attempt_timed_out() noexcept { ++totals_.timed_out; }
    void job_ended(nanoseconds execution) noexcept { totals_.execution.record(execution); }

    /// Returns the counts. The members that describe the present (tasks, paused, queue, by_level) are empty.
    const task_stats& totals() const noexcept { return totals_; }

private:
    task_stats totals_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
