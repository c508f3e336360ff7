// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of schedules and tasks.
#pragma once

#include <system_error>

namespace cogwheel {

/// Why keyed_timers or a task_scheduler refuses an entry, and why a run failed for another reason than its job's.
///
///     if (tasks.add(t) == cogwheel::schedule_errc::duplicate_key) tasks.add(t, cogwheel::on_duplicate::replace);
enum class schedule_errc {
    duplicate_key = 1, ///< the key or name is in use: the old one goes on, the new one is not scheduled
    bad_period,        ///< the period is not above zero, or there is none for more than one run
    bad_times,         ///< the number of runs is below 1
    no_name,           ///< the task has no name
    unknown_job,       ///< no job was defined under this name
    never,             ///< the schedule has no run in the future
    queue_full,        ///< the pool's queue was full, and its policy is to reject
    missed,            ///< the run could not start in time, and its policy is to skip
    interrupted,       ///< the process ended, or the scheduler was stopped, while the job ran
};

/// Returns the category "cogwheel.schedule". Thread safety: any thread.
const std::error_category& schedule_category() noexcept;

inline std::error_code make_error_code(schedule_errc e) noexcept { return {static_cast<int>(e), schedule_category()}; }

} // namespace cogwheel

template <>
struct std::is_error_code_enum<cogwheel::schedule_errc> : std::true_type {};
