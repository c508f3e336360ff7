// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What schedules refuse.
#pragma once

#include <system_error>

namespace cogwheel {

enum class schedule_errc {
    duplicate_key = 1, ///< something is scheduled under this key: it goes on, the new one was not scheduled
    bad_period,        ///< a period must be above zero, and there must be one to run more than once
    bad_times,         ///< a number of runs must be at least 1
    no_name,           ///< a task must have one
    unknown_job,       ///< no job was defined under this name
    never,             ///< there is no such date any more
    queue_full,        ///< the pool took no further job
    missed,            ///< it could not run in time, and its policy is to skip
    interrupted,       ///< the process ended, or the scheduler was stopped, while it ran
};

/// The category "cogwheel.schedule". Thread-safe.
const std::error_category& schedule_category() noexcept;

inline std::error_code make_error_code(schedule_errc e) noexcept { return {static_cast<int>(e), schedule_category()}; }

} // namespace cogwheel

template <>
struct std::is_error_code_enum<cogwheel::schedule_errc> : std::true_type {};
