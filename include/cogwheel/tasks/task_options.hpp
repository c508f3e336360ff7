// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a task scheduler runs jobs, what it remembers, and the observer of its events.
#pragma once

#include <cogwheel/tasks/task_storage.hpp>
#include <cogwheel/tasks/task_trigger.hpp>

#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// An event in the life of a task. Lifetime: the references are valid until on_event() returns.
struct task_event {
    enum class kind : std::uint8_t {
        added,       ///< the task was added, or recover() continues it
        started,     ///< an attempt has started
        retrying,    ///< an attempt has failed, and there will be another one
        completed,   ///< a run was completed
        failed,      ///< a run has failed
        cancelled,   ///< a run was cancelled, or stop() has ended it, which leaves it to recover()
        finished,    ///< the task has no further run
        interrupted, ///< recover() found an attempt that was running (interrupted_runs); reported before its job starts
        unrecorded   ///< the storage failed: it holds an older state of the task
    };

    kind what;
    const std::string& task;
    std::uint32_t attempt; ///< 0: the event concerns no attempt
    task_trigger::wall_point at;
    const std::string& message;     ///< the reason for a failure or a cancellation, if there is one
    std::uint64_t run = 0;          ///< the number of the run in this scheduler, from 1; 0: the event concerns no run
    std::string_view traceparent{}; ///< task::traceparent, if the event concerns a run
};
std::string_view to_string(task_event::kind) noexcept; ///< the name of the constant

/// Receives the events of all tasks: for logs and metrics. The scheduler calls on_event() under its lock, in the
/// order of the events, on the thread that causes them.
/// Preconditions: on_event() returns quickly and does not call the scheduler. Lifetime: outlives the scheduler.
///
///     struct failures final : cogwheel::task_observer {
///         void on_event(const cogwheel::task_event& e) noexcept override {
///             if (e.what == cogwheel::task_event::kind::failed) ++count;
///         }
///         std::atomic<int> count = 0;
///     };
class task_observer {
public:
    virtual ~task_observer() = default;
    virtual void on_event(const task_event&) noexcept = 0;
};

/// What happens to an attempt that is due while all threads of the pool are busy and the queue is full. Of the
/// policies, only run_on_caller() may block the wheel's thread.
///
///     cogwheel::task_scheduler tasks(wheel, {.pool = {.threads = 4, .when_full = cogwheel::full_policy::reject()}});
class full_policy {
public:
    enum class kind : std::uint8_t { wait, wait_for, reject, run_on_caller };

    /// The run waits in line, without a limit.
    static constexpr full_policy wait() noexcept { return {kind::wait, {}}; }
    /// The run waits in line. If it waits longer than `limit`, the attempt fails. `limit` is zero or more.
    static constexpr full_policy wait_for(std::chrono::nanoseconds limit) noexcept { return {kind::wait_for, limit}; }
    /// The attempt fails with task_errc::queue_full.
    static constexpr full_policy reject() noexcept { return {kind::reject, {}}; }
    /// The thread that found the queue full runs the job. When a run comes due, this is the wheel's thread; all other
    /// handlers there wait for the job. A coroutine runs in the pool nevertheless.
    static constexpr full_policy run_on_caller() noexcept { return {kind::run_on_caller, {}}; }

    constexpr kind what() const noexcept { return kind_; }
    constexpr std::chrono::nanoseconds limit() const noexcept { return limit_; }

private:
    constexpr full_policy(kind k, std::chrono::nanoseconds limit) noexcept : kind_(k), limit_(limit) {}

    kind kind_;
    std::chrono::nanoseconds limit_;
};
std::string_view to_string(full_policy::kind) noexcept; ///< the name of the constant

/// The options of the scheduler's own pool, an asio::thread_pool.
struct pool_options {
    std::size_t threads = 0;  ///< up to 4096; 0: as many as the machine has
    std::size_t queue = 1024; ///< jobs beyond one per thread; a coroutine counts until it has ended
    full_policy when_full = full_policy::wait();
};

/// What recover() does with an attempt that was running when the process ended or the scheduler was stopped.
enum class interrupted_runs {
    /// Makes the attempt again, however often it was interrupted: it does not count against job_options::attempts. A
    /// job that ends the process each time it runs is run at each start; it may ask task_run::interrupted().
    again,
    /// Counts it as failed with task_errc::interrupted; there may be further attempts.
    fail
};
std::string_view to_string(interrupted_runs) noexcept; ///< the name of the constant

/// The options of a task_scheduler.
struct task_scheduler_options {
    /// Where jobs run; the scheduler does not limit their number. Default: the scheduler's own pool. Lifetime: its
    /// context outlives the scheduler, and runs all that is posted to it. A run whose job the context drops
    /// may count as queued or running for ever.
    asio::any_io_executor executor{};
    pool_options pool{};

    /// A run is missed if its timer expires more than this after the due time. Zero or more. The wait for a thread does
    /// not count.
    std::chrono::nanoseconds misfire_grace = std::chrono::seconds(1);

    /// The longest time between two readings of the wall clock, as in wall_clock_options. Within this time the
    /// scheduler notices that the clock was set forward or back. Above zero.
    std::chrono::nanoseconds recheck = std::chrono::minutes(1);

    /// The number of ended attempts that the scheduler remembers for each task.
    std::size_t history = 16;
    /// The number of finished tasks that the scheduler remembers. It forgets those that finished first.
    std::size_t finished = 1000;

    /// Where the scheduler stores the tasks whose job is defined by name. Default: nowhere. Lifetime: outlives the
    /// scheduler.
    task_storage* storage = nullptr;
    /// How long an attempt is put off, again and again, whose start the storage cannot save. Above zero.
    std::chrono::nanoseconds storage_pause = std::chrono::seconds(1);
    interrupted_runs interrupted = interrupted_runs::again;

    task_observer* observer = nullptr;

    /// The source of the jitter of retries and triggers, used under the scheduler's lock. Default: a generator of the
    /// scheduler's own, which also replaces a source that throws.
    random_ref random{};

    /// Checks the options. Errors: std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
