// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Runs named tasks: once, periodically or by the calendar; with retries, timeouts and a history. With a storage, tasks
// outlive the process. Target cogwheel::tasks.
//
//     cogwheel::task_journal journal("tasks.journal");
//     cogwheel::task_scheduler tasks(wheel, {.storage = &journal});
//     tasks.define("mail", [](cogwheel::task_run& run) { send(run.body()); }, {.attempts = 5, .timeout = 10s});
//     tasks.recover();
//     tasks.add({.name = "mail-17", .when = cogwheel::task_trigger::once(30s), .job = "mail", .body = "17"});
//     tasks.add({.name = "rotate", .when = cogwheel::task_trigger::cron("@daily")}, [] { rotate(); });
//
// - A scheduler begins each run that the task's policies allow exactly once. If the process dies while the job of a
//   stored task runs, recover() reports that attempt, and makes it again or fails it (interrupted_runs).
// - No run starts early, by the wheel's clock, or by the wall clock for dates and cron expressions.
// - If allocation fails, the scheduler forgets no task: a task that is due then comes due again. An attempt that cannot
//   be made has failed. The history may lack an attempt.
// - Jobs run in the scheduler's own pool or on any executor. An exception fails the attempt; its message is kept.
// - Pending tasks and runs under way keep run() of the wheel's context from returning. Once the scheduler or the wheel
//   has stopped, only runs under way do.
//
// The ideas come from Quartz (misfires), Kubernetes' CronJob (overlaps) and the timer managers of workflow engines.
#pragma once

#include <cogwheel/schedule/on_duplicate.hpp>
#include <cogwheel/tasks/detail/task_wheel.hpp>
#include <cogwheel/tasks/task_info.hpp>
#include <cogwheel/tasks/task_job.hpp>
#include <cogwheel/tasks/task_options.hpp>
#include <cogwheel/tasks/task_stats.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
COGWHEEL_NEEDS_ASIO_OF(tasks);
class task_scheduler_impl;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A table of named tasks and the threads that run their jobs.
/// Complexity: each function is O(1), unless it says otherwise, plus the time of the storage. Memory: about 800 bytes
/// for a task of a defined job, 1,100 for a task with its own job.
/// Thread safety: any thread may call any function except the destructor and the move constructor. So may a job.
class task_scheduler {
public:
    /// Starts a scheduler on a timer_wheel, or on another wheel that any thread may use.
    /// Parameters: WallClock is the clock of dates and cron expressions: a type with `static sys_time<...> now()`, for
    ///   tests.
    /// Effects: a full wheel (max_pending) refuses new tasks, but takes all further timers of existing tasks. After
    ///   cancel_all() of the wheel, the scheduler arms its timers again.
    /// Errors: std::invalid_argument (options), std::bad_alloc, std::system_error (a thread cannot start).
    /// Lifetime: the wheel may be destroyed or stopped first. Then no run comes due, no attempt is made again, and
    ///   stored tasks stay in the storage. The wheel's execution context must outlive the scheduler.
    template <any_timer_wheel Wheel, class WallClock = std::chrono::system_clock>
    explicit task_scheduler(const Wheel& wheel, task_scheduler_options options = {}, std::type_identity<WallClock> = {})
        : task_scheduler(std::make_unique<detail::task_wheel_on<Wheel, WallClock>>(wheel), std::move(options)) {
        static_assert(detail::impl_type<Wheel>::concurrent,
                      "jobs end on other threads: give the scheduler a timer_wheel instead of a local_timer_wheel");
    }

    /// Calls stop(), then waits for the jobs in the scheduler's own pool. Jobs on other executors may continue; the
    /// scheduler has told them to stop.
    /// Preconditions: a job in the pool does not call the destructor. If a coroutine in the pool waits for another
    ///   execution context, another thread runs that context; otherwise the destructor may never return. A program with
    ///   one thread calls stop(), runs the context until counts().jobs is 0, and then destroys the scheduler.
    ~task_scheduler();
    task_scheduler(task_scheduler&&) noexcept;
    task_scheduler& operator=(task_scheduler&&) = delete;

    /// Defines the job of this name. A later definition applies only to tasks that are added or recovered after it.
    /// Define all jobs before recover().
    /// Errors: std::invalid_argument (no name, options), std::bad_alloc.
    void define(std::string name, task_job job, job_options options = {});

    /// Adds a task whose job is defined. Stores it before it returns, if there is a storage. Never runs a job inline.
    /// Errors: returns errc::duplicate_key (on_duplicate::reject, and a task of this name has not finished, or
    ///   is stored, and recover() could not continue it), no_name, bad_period, bad_times, unknown_job, never,
    ///   errc::stopped or errc::too_many_timers. Throws std::bad_alloc and the storage's exceptions. In both cases it
    ///   schedules nothing.
    error_code add(task t, on_duplicate policy = on_duplicate::reject);

    /// Adds a task together with its job. The scheduler does not store the task, so the task ends with the scheduler.
    /// Errors: as with the function above, except unknown_job and the storage's exceptions; std::invalid_argument
    ///   (options). If this replaces a stored task and the storage cannot erase that one, the observer learns of it
    ///   (unrecorded).
    template <std::convertible_to<task_job> Job>
    error_code add(task t, Job&& job, job_options options = {}, on_duplicate policy = on_duplicate::reject) {
        options.validate();
        task_job does(std::forward<Job>(job));
        return add_with(std::move(t), std::move(does), std::move(options), policy);
    }

    /// Adds tasks whose jobs are defined, until one is refused. The tasks before that one stay added. Stores them in
    /// one batch, as a whole or not at all. If `tasks` has a name twice, the second task is refused, even with
    /// on_duplicate::replace; on_duplicate::keep skips it.
    /// Errors: as with add(); if it throws, it has added no task. Complexity: O(tasks).
    task_batch_result add_all(std::vector<task> tasks, on_duplicate policy = on_duplicate::reject);

    /// Ends a task: no run of it begins any more, and the scheduler tells a running job to stop. Erases a stored task
    /// that recover() could not continue. While its job still runs, the task stays, without a next run; the observer
    /// learns of its end (finished).
    task_cancel_result cancel(std::string_view name);

    /// Pauses a task: until resume(), no run of it begins. Runs under way go on, and so do their further attempts. The
    /// storage keeps the pause. A paused task does not keep run() of the wheel's context from returning.
    /// Returns false if there is no such unfinished task.
    bool pause(std::string_view name);

    /// Ends a pause. Runs that came due meanwhile follow the task's misfire policy. Returns as pause().
    bool resume(std::string_view name);

    /// Forgets a finished task. Returns false if there is no such task, or it has not finished.
    bool forget(std::string_view name);

    /// Returns the task of this name, or nothing if there is none.
    std::optional<task_info> find(std::string_view name) const;

    /// Returns all tasks, sorted by name. Complexity: O(n log n).
    std::vector<task_info> snapshot() const;

    /// Returns how many tasks are in each state, and how many runs are under way. Complexity: O(n).
    task_counts counts() const;

    /// Returns the counts of runs and attempts since the scheduler was made, with the times they took, and what the
    /// scheduler holds now. One snapshot: its numbers agree with each other.
    /// Complexity: O(tasks), under the scheduler's lock; all else is counted when it happens. Errors: std::bad_alloc.
    task_stats stats() const;

    /// Continues the tasks of the storage. Runs that came due while no scheduler ran follow their misfire policy. An
    /// attempt that was running is made again, or counts as failed (task_scheduler_options::interrupted); with that,
    /// the task may have failed. Jobs may run before this returns: prepare what they need first.
    /// Complexity: O(stored tasks).
    /// Errors: std::invalid_argument (no storage), the storage's exceptions, std::system_error (stopped),
    ///   std::bad_alloc.
    task_recovery recover();

    /// Stops the scheduler: no run begins any more, add() returns errc::stopped, and it tells running jobs to stop. It
    /// does not tell them of their timeouts after that: a job that goes on bounds itself.
    /// Does not wait for jobs. Stored tasks stay in the storage, and recover() of another scheduler continues them. For
    /// that scheduler, a run that this call stops is an interrupted one (task_scheduler_options::interrupted).
    /// Complexity: O(n).
    void stop();

private:
    task_scheduler(std::unique_ptr<detail::task_wheel> wheel, task_scheduler_options options);
    error_code add_with(task t, task_job job, job_options options, on_duplicate policy);

    std::shared_ptr<detail::task_scheduler_impl> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
