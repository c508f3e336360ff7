// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The impl of a task_scheduler: the table of tasks, and their way from timer to job and back. task_machine decides
// which runs begin, task_pool where jobs run. task_recorder calls the storage and the observer.
//
// One lock guards all of it. Jobs, stop callbacks and destructors of callables run without the lock. A timer or a job
// that returns to a removed task finds task_entry::gone.
//
// A run that has begun can end without memory: it allocated what it needs when it began. A task that comes due without
// memory for its run comes due again a millisecond later. An attempt that cannot be made has failed, but one that
// cannot be stored is put off. A message that cannot be allocated is replaced by "out of memory".
#pragma once

#include "task_pool.hpp"
#include "task_recorder.hpp"
#include "task_tally.hpp"

#include <cogwheel/schedule/on_duplicate.hpp>

#include <list>
#include <mutex>
#include <set>
#include <unordered_map>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class task_scheduler_impl final : public clock_target, public std::enable_shared_from_this<task_scheduler_impl> {
public:
    using entry_ptr = std::shared_ptr<task_entry>;
    using active_ptr = std::shared_ptr<active_run>;
    using wall_point = task_trigger::wall_point;
    using nanoseconds = std::chrono::nanoseconds;

    task_scheduler_impl(std::unique_ptr<task_wheel> wheel, task_scheduler_options options);
    task_scheduler_impl(const task_scheduler_impl&) = delete;
    task_scheduler_impl& operator=(const task_scheduler_impl&) = delete;

    void define(std::string name, task_job job, job_options options);
    error_code add(task, std::shared_ptr<const defined_job>, on_duplicate);
    task_batch_result add_all(std::vector<task>, on_duplicate);
    task_cancel_result cancel(std::string_view name);
    bool pause(std::string_view name);
    bool resume(std::string_view name);
    bool forget(std::string_view name);
    std::optional<task_info> find(std::string_view name) const;
    std::vector<task_info> snapshot() const;
    task_counts counts() const;
    task_stats stats() const;
    task_recovery recover();
    void stop();
    void end(); // calls stop(), waits for the pool, and lets go of the user's objects

    // Called by timers, jobs and the watch of the wall clock.
    void task_due(task_entry&, std::uint64_t number);
    void run_due(active_run&, std::uint64_t number) noexcept;
    void task_dropped(task_entry&, std::uint64_t number);
    void run_dropped(active_run&, std::uint64_t number) noexcept;
    void job_ended(active_run&, const std::exception_ptr& thrown, error_code error) noexcept;
    void clock_set(std::uint64_t number) noexcept override;

private:
    class locked_scope; // holds the lock; does at its end what must happen without it
    class new_tasks;    // adds tasks to the table
    struct by_name {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>()(name); }
    };
    template <class T>
    using named = std::unordered_map<std::string, T, by_name, std::equal_to<>>;

    // The table.
    entry_ptr prepare(task&&, std::shared_ptr<const defined_job>, on_duplicate, error_code&);
    entry_ptr entry_named(std::string_view name) const;
    error_code arm(task_entry&, bool admitted);
    nanoseconds delay_of(task_entry&, nanoseconds point) noexcept;
    void disarm(task_entry&) noexcept;
    void set_timer_number(task_entry&, std::uint64_t) noexcept;
    void watch_the_wall() noexcept;
    void end_needless_watch() noexcept;
    bool come_back(task_entry&) noexcept;
    void arm_adrift() noexcept;
    void look_at_the_wall(task_entry&);
    void drop_runs(locked_scope&, task_entry&, active_run::reason) noexcept;
    void remove(locked_scope&, const entry_ptr&) noexcept;
    void finish(locked_scope&, const entry_ptr&, task_state, const std::string& message) noexcept;
    void restore(locked_scope&, task_record&&, task_recovery&);
    void go_on(locked_scope&, const active_ptr&) noexcept;

    // Runs.
    std::vector<active_ptr> make_runs(const entry_ptr&, const std::vector<nanoseconds>& points,
                                      nanoseconds jitter = {});
    void begin(locked_scope&, const active_ptr&) noexcept;
    void begin_waiting(locked_scope&, const entry_ptr&) noexcept;
    void submit(locked_scope&, const active_ptr&) noexcept;
    void hand_over(const active_ptr&);
    void execute(const active_ptr&) noexcept;
    void attempt_over(locked_scope&, const active_ptr&, task_state, const std::string& message) noexcept;
    bool retry(locked_scope&, const active_ptr&, const std::string& message) noexcept;
    nanoseconds pause_before_next(const active_run&) noexcept;
    void park(locked_scope&, const active_ptr&, nanoseconds delay) noexcept;
    void put_off(locked_scope&, const active_ptr&, const std::string& trouble) noexcept;
    error_code wait(active_run&, nanoseconds delay) noexcept;
    void cut_off(locked_scope&, const active_ptr&, error_code refused) noexcept;
    void run_over(locked_scope&, const active_ptr&, task_state, const std::string& message) noexcept;
    void leave_pool(locked_scope&, active_run&) noexcept;
    bool tell_to_stop(locked_scope&, active_run&, active_run::reason) noexcept;
    active_ptr next_of(calling_thread&) noexcept;
    error_code arm(active_run&, nanoseconds delay) noexcept;
    error_code arm_at(active_run&, nanoseconds due) noexcept;
    void disarm(active_run&) noexcept;

    task_info info_of(const task_entry&) const;

    wall_point wall() const { return wall_point(wheel_->wall()); }

    mutable std::mutex mutex_;
    std::unique_ptr<task_wheel> wheel_;
    std::unique_ptr<task_wheel> no_wheel_ = std::make_unique<no_wheel>();
    task_scheduler_options options_;
    task_recorder recorder_;
    random_ref jitter_;
    small_random own_random_;
    task_pool pool_;
    calling_threads callers_;
    std::size_t active_ = 0;
    task_tally tally_;
    asio::any_io_executor work_; // keeps run() from returning while a run is under way
    std::uint64_t last_timer_ = 0, last_run_ = 0;
    std::size_t wall_timers_ = 0; // the armed timers of tasks on the wall clock
    std::uint64_t watch_number_ = 0;
    bool watching_ = false;
    bool stopped_ = false;
    named<std::shared_ptr<const defined_job>> jobs_;
    named<entry_ptr> tasks_;
    std::set<std::string, std::less<>> idle_; // names of stored tasks that recover() could not continue
    owning_list<task_entry> finished_;        // the oldest one first
    owning_list<task_entry> adrift_;          // tasks without memory for their timers: locked_scope arms them again
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
