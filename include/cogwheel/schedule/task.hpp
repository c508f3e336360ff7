// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a task scheduler is given: a name, when it runs, which job that is, and what happens when it cannot run as planned.
//
//     {.name = "report", .when = task_trigger::cron("0 7 * * MON-FRI", time_zone("Europe/Berlin")), .job = "report"}
//     {.name = "poll", .when = task_trigger::every(10s).times(6), .misfire = misfire_policy::skip()}
//
// All are values that can be written down (task_record.hpp), but for the job itself, of which only the name can.
#pragma once

#include <cogwheel/net/backoff.hpp>
#include <cogwheel/schedule/misfire_policy.hpp>
#include <cogwheel/schedule/task_trigger.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cogwheel {

/// What happens when a run comes due while the one before it is under way: it runs, or waits for its next attempt.
enum class task_overlap {
    forbid, ///< the new one does not run (but waits, with misfire_policy::catch_up)
    allow,  ///< both run
    replace ///< the old one is told to stop; the new one runs when it has ended
};

struct task {
    /// Unique in its scheduler; not empty.
    std::string name;

    task_trigger when{};

    /// The name of a job that was defined. Not looked at where a job is handed over with the task.
    std::string job{};

    /// What the job is to know, in whatever form.
    std::string body{};

    misfire_policy misfire = misfire_policy::fire_once();
    task_overlap overlap = task_overlap::forbid;
};

/// How a job is run.
struct job_options {
    /// How often one run is tried: at least 1. An exception, or an error, is a failure.
    std::uint32_t attempts = 1;

    /// The wait before each further attempt.
    cogwheel::backoff backoff = cogwheel::backoff::exponential(std::chrono::seconds(1))
                                    .cap(std::chrono::minutes(1))
                                    .jitter(backoff_jitter::full);

    /// Then an attempt is told to stop: above zero. None: it may take for ever.
    std::optional<std::chrono::nanoseconds> time_limit{};

    /// Where it runs; empty: where the scheduler's jobs do. Lifetime: as task_scheduler_options::executor.
    asio::any_io_executor executor{};

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

enum class task_state {
    pending,   ///< waits for its next run
    queued,    ///< a run has come due, and waits for a thread, or for a place in the pool
    running,   ///< a run is under way; it may be between two attempts
    completed, ///< there is no further run, and the last one succeeded
    failed,    ///< there is no further run, and the last one failed, or was missed
    cancelled  ///< by cancel(), or replaced
};

std::string_view to_string(task_state) noexcept;
std::string_view to_string(task_overlap) noexcept;

} // namespace cogwheel
