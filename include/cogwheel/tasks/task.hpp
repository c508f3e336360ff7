// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The description of a task: its name, its trigger, its job, and its policies for runs that cannot start as planned.
//
//     {.name = "report", .when = task_trigger::cron("0 7 * * MON-FRI", zone_info("Europe/Berlin")), .job = "report"}
//     {.name = "poll", .when = task_trigger::every(10s).times(6), .misfire = task_misfire::skip()}
//
// A task is a value that a storage can keep (task_storage.hpp). It holds the name of the job, not the job.
#pragma once

#include <cogwheel/resilience/backoff.hpp>
#include <cogwheel/tasks/task_trigger.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What happens to missed runs. A run is missed when its timer fires after the scheduler's misfire_grace, or when the
/// next run is due as well: the process was not running, the loop was blocked, or the machine slept.
class task_misfire {
public:
    enum class kind : std::uint8_t { fire_once, skip, catch_up };

    /// The last run that is due happens at once. The missed runs before it do not happen.
    static constexpr task_misfire fire_once() noexcept { return {kind::fire_once, 1}; }

    /// Missed runs do not happen. If then no run is under way and none will come, the task fails.
    static constexpr task_misfire skip() noexcept { return {kind::skip, 0}; }

    /// The last `most` missed runs happen, the oldest one first. With task_overlap::forbid, they run one after the
    /// other: up to `most` runs that come due during another run wait; beyond that, the oldest one is dropped. With
    /// task_overlap::allow, they run at the same time. With task_overlap::replace, only the last one happens.
    static constexpr task_misfire catch_up(std::uint32_t most) noexcept { return {kind::catch_up, most}; }

    constexpr kind what() const noexcept { return kind_; }
    constexpr std::uint32_t most() const noexcept { return most_; }

    /// Returns "fire_once", "skip" or, for example, "catch_up(3)".
    std::string text() const;

    friend constexpr bool operator==(task_misfire, task_misfire) = default;

private:
    constexpr task_misfire(kind k, std::uint32_t most) noexcept : kind_(k), most_(most) {}

    kind kind_;
    std::uint32_t most_;
};
std::string_view to_string(task_misfire::kind) noexcept; ///< the name of the constant

/// What happens when a run comes due while the run before it is under way. A run that waits for its next attempt is
/// under way as well.
enum class task_overlap {
    forbid, ///< the new run does not happen; with task_misfire::catch_up(n), up to n runs wait; beyond, the oldest goes
    allow,  ///< both run, up to task::most_at_once
    replace ///< the scheduler tells the old run to stop; the new one starts when the old one has ended
};

/// A task, as the caller gives it to task_scheduler::add().
struct task {
    /// Unique among the scheduler's unfinished tasks. Not empty.
    std::string name;

    task_trigger when{};

    /// The name of a defined job. Ignored if the caller gives the job to add().
    std::string job{};

    /// Data for the job, in any format.
    std::string body{};

    task_misfire misfire = task_misfire::fire_once();
    task_overlap overlap = task_overlap::forbid;

    /// With task_overlap::allow, the number of runs that may be under way at once. At least 1. A run that comes due
    /// beyond it does not happen; with task_misfire::catch_up(n), up to n runs wait. Default: no limit.
    std::uint32_t most_at_once = std::numeric_limits<std::uint32_t>::max();

    /// The trace to which the runs belong: the value of the header traceparent (W3C Trace Context), version 00 to fe,
    /// 55 characters. The job gets it unchanged in each attempt, and the storage keeps it. Empty: none.
    std::string traceparent{};
};

/// How the scheduler runs a job.
///
///     tasks.define("mail", send_mail, {.attempts = 5, .timeout = 10s});
struct job_options {
    /// The largest number of attempts of one run. At least 1. An attempt fails if the job throws or returns an error.
    std::uint32_t attempts = 1;

    /// The wait before each further attempt.
    cogwheel::backoff backoff = cogwheel::backoff::exponential(std::chrono::seconds(1))
                                    .cap(std::chrono::minutes(1))
                                    .jitter(backoff_jitter::full);

    /// The scheduler tells an attempt to stop when its job has run for this time. Above zero. Default: no limit.
    std::optional<std::chrono::nanoseconds> timeout{};

    /// Where the job runs. Default: task_scheduler_options::executor, or else the scheduler's pool. Lifetime: as for
    /// that option.
    asio::any_io_executor executor{};

    /// Checks the options. Errors: std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

/// The state of a task, or of an attempt that has ended.
enum class task_state {
    pending,   ///< the task waits for its next run
    queued,    ///< a run is due, and waits for a thread or for a place in the pool
    running,   ///< a run is under way; it may be between two attempts
    completed, ///< there is no further run, and the last one succeeded
    failed,    ///< there is no further run, and the last one failed or was missed
    cancelled  ///< a task: by cancel(); an attempt: by cancel(), stop() or the next run
};

std::string_view to_string(task_state) noexcept;
std::string_view to_string(task_overlap) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
