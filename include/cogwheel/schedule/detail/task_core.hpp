// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table of tasks, and their way from timer to job and back. When runs begin is decided by task_machine; here are the lock, the timers
// and the threads.
//
// One lock for all; jobs, stop callbacks and destructors of callables run outside of it. A timer or a job that comes back to a task that
// has been removed meanwhile finds it gone.
//
// What has begun can end without memory: what it needs was allocated when it began. A task that comes due when there is none for its run
// comes due again a tick later; an attempt that cannot be made has failed; words that cannot be said are short.
#pragma once

#include <cogwheel/schedule/detail/task_machine.hpp>
#include <cogwheel/schedule/detail/task_row.hpp>
#include <cogwheel/schedule/detail/task_wheel.hpp>
#include <cogwheel/schedule/keyed_schedule.hpp>
#include <cogwheel/schedule/task_info.hpp>
#include <cogwheel/schedule/task_job.hpp>
#include <cogwheel/schedule/task_options.hpp>
#include <cogwheel/schedule/task_results.hpp>

#include <asio/thread_pool.hpp>

#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace cogwheel::detail {

class task_core;

struct defined_job {
    defined_job(task_job does, job_options how) : job(std::move(does)), options(std::move(how)) {}

    task_job job;
    job_options options;
};

class active_run;

/// What an exception says.
std::string words_of(const std::exception_ptr&) noexcept;

/// What f() says, or that there is no memory for it.
template <class F>
std::string worded(F f) noexcept {
    COGWHEEL_TRY { return f(); }
    COGWHEEL_CATCH { return "out of memory"; } // needs none
}
inline void note(std::string& words, const std::string& said) noexcept {
    words = worded([&] { return said; });
}

/// A task in the table.
class task_entry final : public timer_target,
                         public row_member<task_entry>,
                         public std::enable_shared_from_this<task_entry> {
public:
    task_entry(const std::shared_ptr<task_core>& in, task of, std::shared_ptr<const defined_job> does,
               std::chrono::nanoseconds grace)
        : core(in), spec(std::move(of)), job(std::move(does)), machine(spec, grace) {}

    void expired(std::uint64_t number) override;
    void dropped(std::uint64_t number) override;
    bool runs_now() const noexcept;
    task_state state() const noexcept;

    std::weak_ptr<task_core> core;
    task spec;
    std::shared_ptr<const defined_job> job;
    task_machine machine;

    any_token timer;
    std::uint64_t timer_number = 0; // of the one that is armed
    std::chrono::nanoseconds armed_at{}, wall_then{};
    std::vector<std::shared_ptr<active_run>> runs;

    std::optional<task_state> ended; // no further run
    bool cancelled = false;          // by the user: what still runs is the last
    bool cut_short = false;          // and there would have been more
    bool gone = false;               // from the table
    std::uint64_t completed = 0, failed = 0, cancellations = 0;
    std::string message;
    std::vector<task_attempt> history; // oldest first; not many
};

/// A run that has begun and not ended.
class active_run final : public reporting_run,
                         public timer_target,
                         public row_member<active_run>,
                         public std::enable_shared_from_this<active_run> {
public:
    enum class phase : std::uint8_t { in_line, on_its_way, running, between_attempts, over };
    enum class reason : std::uint8_t { none, limit, cancelled, replaced, stopped };

    active_run(std::shared_ptr<task_core> in, std::shared_ptr<task_entry> entry, task_trigger::wall_point due)
        : reporting_run(entry->spec.name, entry->spec.body, due), core(std::move(in)), of(std::move(entry)) {}

    void expired(std::uint64_t number) override;
    void dropped(std::uint64_t number) override;
    void ended(const std::exception_ptr& thrown, std::error_code error) noexcept override;

    /// Errors: std::bad_alloc; nothing has changed then.
    void next_attempt() {
        std::list<std::stop_source> fresh(1);
        stop_ = fresh.front();
        stop.swap(fresh);
        ++attempt_;
        why = reason::none;
        interrupted_ = false;
    }
    void note_interruption() noexcept { interrupted_ = true; }
    void set_attempt(std::uint32_t n) noexcept { attempt_ = n; }

    std::shared_ptr<task_core> core;
    std::shared_ptr<task_entry> of;
    phase at = phase::on_its_way;
    phase kept = phase::on_its_way;   // as what it is written down, once it is over for this process
    reason why = reason::none;        // it was told to stop
    std::list<std::stop_source> stop; // one, until this attempt is told to
    bool in_pool = false;
    std::string refused; // why it was not taken
    any_token timer;     // its limit, its place in line, or its next attempt
    std::uint64_t timer_number = 0;
    std::chrono::nanoseconds timer_due{}; // by the wheel's clock
    std::chrono::nanoseconds waited{};    // before this attempt
    task_trigger::wall_point retry_at{};
    task_trigger::wall_point started{};
};

class task_core final : public std::enable_shared_from_this<task_core> {
public:
    using entry_ptr = std::shared_ptr<task_entry>;
    using active_ptr = std::shared_ptr<active_run>;
    using wall_point = task_trigger::wall_point;
    using nanoseconds = std::chrono::nanoseconds;

    task_core(std::unique_ptr<task_wheel> wheel, task_scheduler_options options);
    task_core(const task_core&) = delete;
    task_core& operator=(const task_core&) = delete;

    void define(std::string name, task_job job, job_options options);
    std::error_code add(task, std::shared_ptr<const defined_job>, on_duplicate);
    task_batch_result add_all(std::vector<task>, on_duplicate);
    task_cancel_result cancel(std::string_view name);
    bool forget(std::string_view name);
    std::optional<task_info> find(std::string_view name) const;
    std::vector<task_info> snapshot() const;
    task_counts counts() const;
    task_recovery recover();
    void stop();
    void end(); // stop(), waits for the pool, and lets go of all that is the user's

    // Timers and jobs come back.
    void task_due(task_entry&, std::uint64_t number);
    void run_due(active_run&, std::uint64_t number) noexcept;
    void task_dropped(task_entry&, std::uint64_t number);
    void run_dropped(active_run&, std::uint64_t number) noexcept;
    void job_ended(active_run&, const std::exception_ptr& thrown, std::error_code error) noexcept;

private:
    class section;  // holds the lock; what has to be done without it is done at its end
    class arrivals; // tasks on their way into the table
    // A thread that runs jobs which found the pool full. A job that ends may begin the next one, in a section of its own, within this: that
    // one leaves it to the first, or the stack would grow with each.
    struct caller {
        std::thread::id thread = std::this_thread::get_id();
        row<active_run> queue;
        caller* below = nullptr;
    };
    struct by_name {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>()(name); }
    };
    template <class T>
    using named = std::unordered_map<std::string, T, by_name, std::equal_to<>>;

    // The table.
    entry_ptr prepare(task&&, std::shared_ptr<const defined_job>, on_duplicate, std::error_code&);
    bool written_down(const task_entry&) const noexcept;
    entry_ptr entry_named(std::string_view name) const;
    std::error_code arm(task_entry&, bool admitted);
    void disarm(task_entry&) noexcept;
    bool come_back(task_entry&) noexcept;
    void arm_adrift() noexcept;
    void look_at_the_wall(task_entry&);
    void drop_runs(section&, task_entry&, active_run::reason) noexcept;
    void remove(section&, const entry_ptr&) noexcept;
    void finish(section&, const entry_ptr&, task_state, const std::string& message) noexcept;
    void restore(section&, task_record&&, task_recovery&);
    void go_on(section&, const active_ptr&) noexcept;

    // Runs.
    std::vector<active_ptr> make_runs(const entry_ptr&, const std::vector<nanoseconds>& points);
    void begin(section&, const active_ptr&) noexcept;
    void begin_waiting(section&, const entry_ptr&) noexcept;
    void submit(section&, const active_ptr&) noexcept;
    void hand_over(const active_ptr&);
    void execute(const active_ptr&) noexcept;
    void attempt_over(section&, const active_ptr&, task_state, const std::string& message) noexcept;
    bool retry(section&, const active_ptr&, const std::string& message) noexcept;
    nanoseconds pause_before_next(const active_run&) noexcept;
    void park(section&, const active_ptr&, nanoseconds delay) noexcept;
    void cut_off(section&, const active_ptr&, std::error_code refused) noexcept;
    void leave_line(active_run&) noexcept;
    void run_over(section&, const active_ptr&, task_state, const std::string& message) noexcept;
    void leave_pool(section&, active_run&) noexcept;
    bool tell_to_stop(section&, active_run&, active_run::reason) noexcept;
    bool join_callers(caller&, row<active_run>& runs) noexcept;
    active_ptr next_of(caller&) noexcept;
    std::error_code arm(active_run&, nanoseconds delay) noexcept;
    void disarm(active_run&) noexcept;

    // Records.
    task_record record_of(const task_entry&) const;
    std::string save(const task_entry&) noexcept; // what went wrong
    void erase(const task_entry&) noexcept;
    void notify(task_event::kind, const std::string& name, std::uint32_t attempt, const std::string& message) noexcept;
    task_info info_of(const task_entry&) const;

    wall_point wall() const { return wall_point(wheel_->wall()); }
    nanoseconds present_of(const task_trigger&) const; // by the trigger's clock
    wall_point wall_of(const task_trigger&, nanoseconds point) const;

    mutable std::mutex mutex_;
    std::unique_ptr<task_wheel> wheel_;
    std::unique_ptr<task_wheel> no_wheel_ = std::make_unique<no_wheel>();
    task_scheduler_options options_;
    random_ref jitter_;
    small_random own_random_;
    std::optional<asio::thread_pool> pool_;
    std::size_t pool_limit_ = 0;
    std::size_t in_pool_ = 0;
    row<active_run> line_; // for the pool
    caller* callers_ = nullptr;
    std::size_t active_ = 0;
    asio::any_io_executor work_; // holds run() while anything runs
    std::uint64_t last_timer_ = 0;
    bool stopped_ = false;
    named<std::shared_ptr<const defined_job>> jobs_;
    named<entry_ptr> tasks_;
    row<task_entry> finished_; // oldest first
    row<task_entry> adrift_;   // due again, and no memory for their timers
};

} // namespace cogwheel::detail
