// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of schedules and tasks.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Why keyed_timers or a task_scheduler refuses an entry, or why a run or task fails although no job has failed.
///
///     if (tasks.add(t) == cogwheel::schedule_errc::duplicate_key) tasks.add(t, cogwheel::on_duplicate::replace);
enum class schedule_errc {
    duplicate_key = 1, ///< the key or name is in use; the old entry stays, the new one is not scheduled
    bad_period,        ///< the period is zero or less, or there are several runs without a period
    bad_times,         ///< the number of runs is below 1
    no_name,           ///< the task has no name
    unknown_job,       ///< no job was defined under this name
    never,             ///< the cron expression has no match in the future
    queue_full,        ///< the pool's queue was full, and full_policy::reject() applies
    missed,            ///< the run was too late, and its misfire policy is to skip
    interrupted,       ///< the process ended, or the scheduler was stopped, while the job ran
    bad_jitter,        ///< the jitter is below zero, or not below the period
    bad_trace,         ///< task::traceparent is not one
};

/// Returns the category "cogwheel.schedule". Thread safety: any thread.
const detail::sys::error_category& schedule_category() noexcept;

inline error_code make_error_code(schedule_errc e) noexcept { return {static_cast<int>(e), schedule_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::schedule_errc> : std::true_type {};
