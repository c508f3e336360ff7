// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of tasks, in addition to those of the wheel (asio/error.hpp).
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Why a task_scheduler or a durable_queue refuses a task, or why a run or task fails although no job has failed.
enum class task_errc {
    bad_period = 1, ///< the period is zero or less, or there are several runs without a period
    bad_times,      ///< the number of runs is below 1
    no_name,        ///< the task has no name
    unknown_job,    ///< no job was defined under this name
    never,          ///< the cron expression has no match in the future
    queue_full,     ///< the pool's queue was full, and full_policy::reject() applies
    missed,         ///< the run was too late, and its misfire policy is to skip
    interrupted,    ///< the process ended, or the scheduler was stopped, while the job ran
    bad_jitter,     ///< the jitter is below zero, or not below the period
    bad_trace,      ///< task::traceparent is not one
};

/// Returns the category of task_errc, "cogwheel.tasks". Thread safety: any thread.
const detail::sys::error_category& task_category() noexcept;

inline error_code make_error_code(task_errc e) noexcept { return {static_cast<int>(e), task_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::task_errc> : std::true_type {};
