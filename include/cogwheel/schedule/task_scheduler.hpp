// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Named tasks: once, periodic or by the calendar; with retries, time limits, a history, and a memory that outlives the process. Library
// cogwheel::calendar.
//
//     cogwheel::task_journal journal("tasks.journal");
//     cogwheel::task_scheduler tasks(wheel, {.storage = &journal});
//     tasks.define("mail", [](cogwheel::task_run& run) { send(run.body()); }, {.attempts = 5, .time_limit = 10s});
//     tasks.recover();
//     tasks.add({.name = "mail-17", .when = cogwheel::task_trigger::once(30s), .job = "mail", .body = "17"});
//     tasks.add({.name = "rotate", .when = cogwheel::task_trigger::cron("@daily")}, [] { rotate(); });
//
// - Every run happens exactly once, in this process. Across its death: at least once, and a run whose job had begun is reported by recover().
// - Never early: by the wheel's clock, or for dates and cron expressions by that on the wall.
// - Out of memory no task is forgotten: one that comes due then comes due again, and an attempt that there is none for has failed. The
//   history does without what cannot be written down.
// - Jobs run in a pool of the scheduler's own, or on any executor; what they throw is a failed attempt, its words are kept.
// - run() of the wheel's context returns when no task is pending and no job under way.
//
// Thread safety: any thread may call anything, also a job, but the destructor. Complexity: O(1) each unless it says otherwise, and what the
// storage takes. Memory: 800 bytes a task of a
// defined job, 1,100 with a job of its own.
// After Quartz (misfires), Kubernetes' CronJob (overlaps) and the timer managers of workflow engines.
#pragma once

#include <cogwheel/schedule/detail/task_core.hpp>

namespace cogwheel {

class task_scheduler {
public:
    /// On a timer_wheel, or another that any thread may call. WallClock: what dates and cron expressions go by.
    /// Errors: std::invalid_argument (options), std::bad_alloc, std::system_error (threads).
    /// Lifetime: the wheel may be destroyed or stopped first: nothing comes due then, no attempt is made again, and what was written down
    ///   stays. Its execution context may not. A wheel that is full (max_pending) refuses what is added; it takes all further timers of
    ///   tasks that are there. Its cancel_all() is none of theirs: they are armed anew.
    template <any_timer_wheel Wheel, class WallClock = std::chrono::system_clock>
    explicit task_scheduler(const Wheel& wheel, task_scheduler_options options = {}, std::type_identity<WallClock> = {})
        : core_(make(wheel, std::move(options), std::type_identity<WallClock>())) {}

    /// As stop(); then waits for the jobs in the scheduler's own pool. Jobs on other executors may go on; they are told to stop.
    /// Preconditions: not called by a job in the pool; and if coroutines there wait for something of an execution context, other threads
    ///   run that, or they never end. Where one thread does all: stop(), run the context until counts().jobs is 0, then destroy.
    ~task_scheduler() {
        if (core_ != nullptr) core_->end();
    }
    task_scheduler(task_scheduler&&) noexcept = default;
    task_scheduler& operator=(task_scheduler&&) = delete;

    /// Defines what tasks mean by this name, or anew for tasks that are added later. Before recover().
    /// Errors: std::invalid_argument (no name, options), std::bad_alloc.
    void define(std::string name, task_job job, job_options options = {}) {
        core_->define(std::move(name), std::move(job), std::move(options));
    }

    /// Adds a task whose job was defined. With a storage it is written down before this returns.
    /// Returns what was wrong, and nothing is scheduled then: schedule_errc::duplicate_key (a task of this name has not finished),
    ///   no_name, bad_period, bad_times, unknown_job, never; errc::stopped, errc::too_many_timers.
    /// Errors: std::bad_alloc, the storage's; nothing is scheduled then. Never runs a job inline.
    std::error_code add(task t, on_duplicate policy = on_duplicate::reject) {
        return core_->add(std::move(t), nullptr, policy);
    }

    /// Adds a task with its job, which lives and dies with this process: it is not written down.
    /// Errors: and std::invalid_argument (options).
    template <std::convertible_to<task_job> Job>
    std::error_code add(task t, Job&& job, job_options options = {}, on_duplicate policy = on_duplicate::reject) {
        options.validate();
        task_job does(std::forward<Job>(job));
        return add_with(std::move(t), std::move(does), std::move(options), policy);
    }

    /// Adds tasks whose jobs were defined, until one is refused. They are written down at once: all of them, or none. Two of one name
    /// are duplicates.
    task_batch_result add_all(std::vector<task> tasks, on_duplicate policy = on_duplicate::reject) {
        return core_->add_all(std::move(tasks), policy);
    }

    /// No further run. A job that runs is told to stop.
    task_cancel_result cancel(std::string_view name) { return core_->cancel(name); }

    /// Forgets a task that has finished. False: there is none, or it has not.
    bool forget(std::string_view name) { return core_->forget(name); }

    /// Nothing for an unknown name.
    std::optional<task_info> find(std::string_view name) const { return core_->find(name); }

    /// All tasks, by name. Complexity: O(n log n).
    std::vector<task_info> snapshot() const { return core_->snapshot(); }

    /// Complexity: O(n).
    task_counts counts() const { return core_->counts(); }

    /// Goes on with the tasks of the storage. What has come due meanwhile follows its misfire policy; a run whose job was
    /// running begins again, or has failed (task_scheduler_options::interrupted).
    /// Errors: std::invalid_argument (no storage), those of the storage; std::system_error (stopped).
    task_recovery recover() { return core_->recover(); }

    /// No run begins any more, add() answers errc::stopped; jobs that run are told to stop. What was written down stays so; a run
    /// that is stopped by this begins again after recover(). Does not wait.
    void stop() { core_->stop(); }

private:
    std::error_code add_with(task t, task_job job, job_options options, on_duplicate policy) {
        auto own = std::make_shared<const detail::defined_job>(std::move(job), std::move(options));
        return core_->add(std::move(t), std::move(own), policy);
    }

    template <class Wheel, class WallClock>
    static std::shared_ptr<detail::task_core> make(const Wheel& wheel, task_scheduler_options options,
                                                   std::type_identity<WallClock>) {
        static_assert(detail::state_type<Wheel>::concurrent,
                      "jobs end on other threads: give the scheduler a timer_wheel instead of a local_timer_wheel");
        options.validate();
        return std::make_shared<detail::task_core>(std::make_unique<detail::task_wheel_on<Wheel, WallClock>>(wheel),
                                                   std::move(options));
    }

    std::shared_ptr<detail::task_core> core_;
};

} // namespace cogwheel
