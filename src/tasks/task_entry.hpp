// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A task in the table, and its runs under way.
#pragma once

#include "owning_list.hpp"
#include "task_machine.hpp"

#include <cogwheel/tasks/detail/task_wheel.hpp>
#include <cogwheel/tasks/task_info.hpp>
#include <cogwheel/tasks/task_job.hpp>
#include <cogwheel/tasks/task_options.hpp>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class task_scheduler_impl;

/// A job with its options, shared by the tasks that use it.
struct defined_job {
    defined_job(task_job does, job_options how) : job(std::move(does)), options(std::move(how)) {}

    task_job job;
    job_options options;
};

class active_run;

/// Returns the message of an exception.
std::string message_of(const std::exception_ptr&) noexcept;

/// Returns f(), or "out of memory" if there is no memory for it.
template <class F>
std::string message_or_out_of_memory(F f) noexcept {
    COGWHEEL_TRY { return f(); }
    COGWHEEL_CATCH { return "out of memory"; } // short enough to need no memory
}
inline void note(std::string& words, const std::string& said) noexcept {
    words = message_or_out_of_memory([&] { return said; });
}

/// A task in the table.
class task_entry final : public timer_target,
                         public owned_links<task_entry>,
                         public std::enable_shared_from_this<task_entry> {
public:
    task_entry(const std::shared_ptr<task_scheduler_impl>& in, task of, std::shared_ptr<const defined_job> does,
               std::chrono::nanoseconds grace)
        : impl(in), spec(std::move(of)), job(std::move(does)), machine(spec, grace) {}

    void expired(std::uint64_t number) override;
    void dropped(std::uint64_t number) override;
    bool runs_now() const noexcept;
    task_state state() const noexcept;

    std::weak_ptr<task_scheduler_impl> impl;
    task spec;
    std::shared_ptr<const defined_job> job;
    task_machine machine;

    any_token timer;
    std::uint64_t timer_number = 0;                    // the number of the armed timer; 0: none
    std::chrono::nanoseconds timer_due{};              // by the wheel's clock
    std::chrono::nanoseconds armed_at{}, wall_then{};  // when the timer was armed, by both clocks
    std::optional<std::chrono::nanoseconds> drawn_for; // the point that `drawn`, a random delay, belongs to
    std::chrono::nanoseconds drawn{};
    std::vector<std::shared_ptr<active_run>> runs;

    std::optional<task_state> ended; // set when there is no further run
    bool paused = false;             // no run begins
    bool cancelled = false;          // cancel() was called: the runs under way are the last ones
    bool cut_short = false;          // cancel() prevented further runs
    bool gone = false;               // not in the table any more
    std::uint64_t completed = 0, failed = 0, cancellations = 0;
    std::string message, result;
    std::vector<task_attempt> history; // the oldest one first
};

/// A run that has begun and not ended.
class active_run final : public reporting_run,
                         public timer_target,
                         public owned_links<active_run>,
                         public std::enable_shared_from_this<active_run> {
public:
    enum class phase : std::uint8_t { queued, on_its_way, running, between_attempts, over };
    using reason = task_stop_reason;

    active_run(std::shared_ptr<task_scheduler_impl> in, std::shared_ptr<task_entry> entry, task_trigger::wall_point due)
        : reporting_run(entry->spec.name, entry->spec.body, entry->spec.traceparent, due),
          impl(std::move(in)),
          of(std::move(entry)) {}

    void expired(std::uint64_t number) override;
    void dropped(std::uint64_t number) override;
    void ended(const std::exception_ptr& thrown, error_code error) noexcept override;

    /// Prepares the next attempt. Errors: std::bad_alloc; nothing has changed then.
    void next_attempt() {
        std::list<std::stop_source> fresh(1);
        stop_ = fresh.front();
        result_.clear();
        stop.swap(fresh);
        ++attempt_;
        why_ = reason::none;
        interrupted_ = false;
    }
    std::string take_result() noexcept { return std::exchange(result_, {}); }
    /// Notes why it is told to stop. A timeout is not the last word.
    void note_reason(reason why) noexcept {
        if (why_ == reason::none || why_ == reason::timeout) why_ = why;
    }
    void note_interruption() noexcept { interrupted_ = true; }
    void set_attempt(std::uint32_t n) noexcept { attempt_ = n; }

    std::shared_ptr<task_scheduler_impl> impl;
    std::shared_ptr<task_entry> of;
    std::uint64_t run_number = 0; // in this scheduler, from 1
    phase at = phase::on_its_way;
    phase kept = phase::on_its_way;   // the phase before `over`, which the storage keeps after stop()
    std::list<std::stop_source> stop; // one element, until this attempt is told to stop
    bool put_off = false;             // between attempts, the next one is prepared, and waits for the storage
    bool in_pool = false;
    std::string refused; // why the attempt was rejected
    any_token timer;     // the timeout, the limit in line, or the next attempt
    std::uint64_t timer_number = 0;
    std::chrono::nanoseconds timer_due{}; // by the wheel's clock
    std::chrono::nanoseconds waited{};    // the pause before this attempt
    std::chrono::nanoseconds due_at{};    // when this attempt was due, by the wheel's clock
    std::chrono::nanoseconds began{};     // when its job began, by the wheel's clock
    task_trigger::wall_point retry_at{};
    task_trigger::wall_point started{};
};

// Points of a trigger count from the epoch of its clock: the wheel's clock, or the wall clock.

inline std::chrono::nanoseconds present_of(const task_wheel& wheel, const task_trigger& t) {
    return t.on_the_wall() ? wheel.wall() : wheel.now();
}
inline std::chrono::nanoseconds point_of(const task_wheel& wheel, const task_trigger& t, task_trigger::wall_point at) {
    const std::chrono::nanoseconds wall = at.time_since_epoch();
    return t.on_the_wall() ? wall : saturating_add(wheel.now(), saturating_add(wall, -wheel.wall()));
}
inline task_trigger::wall_point wall_of(const task_wheel& wheel, const task_trigger& t,
                                        std::chrono::nanoseconds point) {
    using wall_point = task_trigger::wall_point;
    if (t.on_the_wall()) return wall_point(point);
    return wall_point(saturating_add(wheel.wall(), saturating_add(point, -wheel.now())));
}

// Returns when a run at `point` of the task's trigger was due, by the wheel's clock; at most `now`. For the wall clock,
// it compares both clocks as they were when the task's timer was armed, not as they are now. So a clock that was set
// forward since then makes no run look late. One that was set back lets the timer expire too early; the scheduler then
// arms it again.
inline std::chrono::nanoseconds due_by_wheel(const task_entry& e, std::chrono::nanoseconds point,
                                             std::chrono::nanoseconds now) {
    constexpr auto least = -std::chrono::nanoseconds::max(); // so that -due exists
    if (!e.spec.when.on_the_wall()) return std::max(point, least);
    const auto due = saturating_add(e.armed_at, saturating_add(point, -e.wall_then));
    return std::min(now, std::max(due, least));
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
