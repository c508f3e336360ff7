// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table of tasks: the timers of tasks, and the end of tasks.
#include "locked_scope.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;

bool task_entry::runs_now() const noexcept {
    return std::any_of(runs.begin(), runs.end(), [](const auto& r) { return r->at != active_run::phase::over; });
}

task_state task_entry::state() const noexcept {
    if (ended) return *ended;
    task_state now = task_state::pending;
    for (const auto& r : runs) {
        using enum active_run::phase;
        if (r->at == running || r->at == between_attempts) return task_state::running;
        if (r->at == queued || r->at == on_its_way) now = task_state::queued;
    }
    return now;
}

void task_entry::expired(std::uint64_t number) {
    if (const auto alive = impl.lock()) alive->task_due(*this, number);
}

void task_entry::dropped(std::uint64_t number) {
    if (const auto alive = impl.lock()) alive->task_dropped(*this, number);
}

task_scheduler_impl::task_scheduler_impl(std::unique_ptr<task_wheel> wheel, task_scheduler_options options)
    : wheel_(std::move(wheel)),
      options_(std::move(options)),
      recorder_(wheel_, options_),
      jitter_(options_.random),
      own_random_(fresh_seed(this, wheel_->wall())),
      pool_(options_) {}

void task_scheduler_impl::define(std::string name, task_job job, job_options options) {
    if (name.empty()) throw std::invalid_argument("cogwheel::task_scheduler: a job that is defined needs a name");
    options.validate();
    auto defined = std::make_shared<const defined_job>(std::move(job), std::move(options));
    locked_scope s(*this);
    const auto [at, fresh] = jobs_.try_emplace(std::move(name), defined);
    if (fresh) return;
    s.drop(at->second);
    at->second = std::move(defined);
}

task_scheduler_impl::entry_ptr task_scheduler_impl::entry_named(std::string_view name) const {
    const auto at = tasks_.find(name);
    return at != tasks_.end() ? at->second : nullptr;
}

error_code task_scheduler_impl::arm(task_entry& e, bool admitted) {
    disarm(e);
    const auto next = e.machine.next();
    if (!next) return {};
    if (e.spec.when.on_the_wall()) {
        if (!e.paused) watch_the_wall(); // first: it may be set right after the reading
        e.armed_at = wheel_->now();
        e.wall_then = wheel_->wall();
    }
    if (e.paused) return {};
    nanoseconds due = saturating_add(*next, delay_of(e, *next));
    if (e.spec.when.on_the_wall()) {
        due = saturating_add(e.armed_at, std::min(saturating_add(due, -e.wall_then), options_.recheck));
    }
    e.timer_due = due;
    const error_code refused = wheel_->arm(e.timer, due, e.weak_from_this(), ++last_timer_, admitted);
    if (!refused) set_timer_number(e, last_timer_);
    return refused;
}

// Returns the random delay of the run at `point`, the next one. It stays the same while that is so.
nanoseconds task_scheduler_impl::delay_of(task_entry& e, nanoseconds point) noexcept {
    if (e.spec.when.jitter() == nanoseconds::zero()) return {};
    if (e.drawn_for != point) {
        std::uint64_t bits = own_random_();
        try {
            if (jitter_) bits = jitter_();
        } catch (...) { // the user's source failed: ours does
        }
        const std::uint64_t ns = scale_bits(bits, static_cast<std::uint64_t>(e.spec.when.jitter().count()));
        e.drawn = nanoseconds(static_cast<std::int64_t>(ns));
        e.drawn_for = point;
    }
    return e.drawn;
}

void task_scheduler_impl::disarm(task_entry& e) noexcept {
    if (e.timer_number != 0) wheel_->cancel(e.timer);
    set_timer_number(e, 0);
    adrift_.take(e);
}

void task_scheduler_impl::set_timer_number(task_entry& e, std::uint64_t number) noexcept {
    const bool had = std::exchange(e.timer_number, number) != 0, has = number != 0;
    if (had == has || !e.spec.when.on_the_wall()) return;
    if (has)
        ++wall_timers_;
    else
        --wall_timers_;
}

// Watches the wall clock while a task on it has a timer. The locked section ends the watch if there is no such task.
void task_scheduler_impl::watch_the_wall() noexcept {
    if (watching_) return;
    watch_number_ = ++last_timer_;
    watching_ = wheel_->watch(weak_from_this(), watch_number_);
}
void task_scheduler_impl::end_needless_watch() noexcept {
    if (wall_timers_ == 0 && std::exchange(watching_, false)) wheel_->unwatch();
}

// Arms a timer a millisecond ahead, because there was no memory for the run. Returns false if there is none for the
// timer.
bool task_scheduler_impl::come_back(task_entry& e) noexcept {
    try {
        e.timer_due = saturating_add(wheel_->now(), std::chrono::milliseconds(1));
        if (!wheel_->arm(e.timer, e.timer_due, e.weak_from_this(), ++last_timer_, true))
            set_timer_number(e, last_timer_);
        return true;
    } catch (...) {
        adrift_.push(e.shared_from_this());
        return false;
    }
}

// Arms the timers of adrift tasks. Each locked section tries it, because there may be memory again.
void task_scheduler_impl::arm_adrift() noexcept {
    while (const entry_ptr entry = adrift_.pop())
        if (!come_back(*entry)) return;
}

// Notices a wall clock that was put back, by comparing it with the wheel's clock. Otherwise a cron task would wait for
// the point that it found while the clock was ahead, and the storage would keep that point.
void task_scheduler_impl::look_at_the_wall(task_entry& e) {
    if (!e.spec.when.on_the_wall()) return;
    const nanoseconds elapsed = saturating_add(wheel_->now(), -e.armed_at), now = wheel_->wall();
    const nanoseconds put_back = saturating_add(saturating_add(e.wall_then, elapsed), -now);
    if (put_back > nanoseconds::zero() && e.machine.clock_put_back(put_back, elapsed, now)) recorder_.save(e);
}

// Handles the timer of a task. It may be a timer that was cancelled too late: then its number differs.
void task_scheduler_impl::task_due(task_entry& e, std::uint64_t number) {
    locked_scope s(*this);
    if (number != e.timer_number || stopped_) return;
    set_timer_number(e, 0);
    const entry_ptr entry = e.shared_from_this();
    std::optional<task_machine::progress> before;
    task_machine::decision d;
    std::vector<active_ptr> runs;
    try {
        look_at_the_wall(e);
        const nanoseconds next = *e.machine.next();
        const nanoseconds now = saturating_add(present_of(*wheel_, e.spec.when), -delay_of(e, next));
        before = e.machine.present();
        if (next <= now) d = e.machine.expired(now);
        runs = make_runs(entry, d.begin, delay_of(e, next));
        arm(e, true); // a stopped wheel refuses: the task stays in the storage
    } catch (...) {
        if (before) e.machine.go_back_to(std::move(*before));
        if (active_ == 0) work_ = {};
        come_back(e);
        throw;
    }
    // Here, and not earlier: without memory, the task comes due again.
    tally_.runs_left_out(e.machine.missed() - before->missed, e.machine.dropped() - before->dropped);
    if (d.replace) drop_runs(s, e, active_run::reason::replaced);
    for (const active_ptr& run : runs) begin(s, run);
    if (!e.ended && e.machine.finished())
        finish(s, entry, task_state::failed, make_error_code(task_errc::missed).message());
}

// Arms a task's timer again, after all timers of the wheel were cancelled. A stopped wheel refuses.
void task_scheduler_impl::task_dropped(task_entry& e, std::uint64_t number) {
    locked_scope s(*this);
    if (number != e.timer_number || stopped_) return;
    set_timer_number(e, 0);
    try {
        look_at_the_wall(e);
        arm(e, true);
    } catch (...) {
        come_back(e);
        throw;
    }
}

// Lets the timers of all tasks on the wall clock expire now: these tasks look at it then.
void task_scheduler_impl::clock_set(std::uint64_t number) noexcept {
    const locked_scope s(*this);
    if (number != watch_number_) return;
    watching_ = false;
    if (wall_timers_ == 0) return;
    watch_the_wall();
    for (const auto& [name, entry] : tasks_)
        if (entry->spec.when.on_the_wall() && entry->timer_number != 0) wheel_->expire(entry->timer);
}

task_cancel_result task_scheduler_impl::cancel(std::string_view name) {
    locked_scope s(*this);
    const auto at = tasks_.find(name);
    if (at == tasks_.end() || at->second->ended) {
        const auto stored = idle_.find(name);
        if (stored == idle_.end()) return task_cancel_result::not_found;
        recorder_.erase(*stored);
        recorder_.notify(task_event::kind::finished, *stored, {});
        idle_.erase(stored);
        return task_cancel_result::cancelled;
    }
    const entry_ptr entry = at->second;
    entry->cancelled = true;
    entry->cut_short = entry->machine.next() || !entry->machine.waiting().empty();
    entry->machine.end();
    disarm(*entry);
    recorder_.erase(*entry); // a job that runs now never runs again, even after a crash
    drop_runs(s, *entry, active_run::reason::cancelled);
    if (entry->runs_now()) return task_cancel_result::running;
    if (!entry->ended) finish(s, entry, task_state::cancelled, {});
    return task_cancel_result::cancelled;
}

bool task_scheduler_impl::pause(std::string_view name) {
    locked_scope s(*this);
    const entry_ptr entry = entry_named(name);
    if (entry == nullptr || entry->ended || entry->cancelled) return false;
    if (std::exchange(entry->paused, true)) return true;
    disarm(*entry);
    recorder_.save(*entry);
    return true;
}

bool task_scheduler_impl::resume(std::string_view name) {
    locked_scope s(*this);
    const entry_ptr entry = entry_named(name);
    if (entry == nullptr || entry->ended || entry->cancelled) return false;
    if (!std::exchange(entry->paused, false)) return true;
    try {
        if (entry->machine.next()) look_at_the_wall(*entry);
        if (!stopped_) arm(*entry, true);
    } catch (...) {
        come_back(*entry); // no memory: the task's timer comes a little later
    }
    recorder_.save(*entry);
    if (!stopped_) begin_waiting(s, entry);
    return true;
}

// Tells the runs with a running job to stop, and ends the others.
void task_scheduler_impl::drop_runs(locked_scope& s, task_entry& e, active_run::reason why) noexcept {
    std::size_t i = 0;
    for (std::size_t n = e.runs.size(); n != 0; --n) { // runs that begin meanwhile come after these
        const active_ptr run = e.runs[i];
        if (tell_to_stop(s, *run, why)) run_over(s, run, task_state::cancelled, {});
        if (i < e.runs.size() && e.runs[i] == run) ++i;
    }
}

// Removes a task that a new one replaces. Its running jobs go on, but their ends change nothing any more.
void task_scheduler_impl::remove(locked_scope& s, const entry_ptr& entry) noexcept {
    entry->gone = true;
    entry->machine.end();
    disarm(*entry);
    drop_runs(s, *entry, active_run::reason::replaced);
    entry->runs.clear(); // only their jobs hold them from now on
    s.drop_entry(entry);
}

void task_scheduler_impl::finish(locked_scope& s, const entry_ptr& entry, task_state state,
                                 const std::string& message) noexcept {
    entry->ended = state;
    if (!message.empty()) note(entry->message, message);
    disarm(*entry);
    if (entry->gone) return;
    if (!entry->cancelled) recorder_.erase(*entry);
    recorder_.notify(task_event::kind::finished, entry->spec.name, message);
    finished_.push(entry);
    if (finished_.size() <= options_.finished) return;
    const entry_ptr oldest = finished_.pop();
    s.drop_entry(oldest);
    tasks_.erase(oldest->spec.name);
}

bool task_scheduler_impl::forget(std::string_view name) {
    locked_scope s(*this);
    const auto at = tasks_.find(name);
    if (at == tasks_.end() || !at->second->ended) return false;
    s.drop_entry(at->second);
    tasks_.erase(at);
    return true;
}

void task_scheduler_impl::stop() {
    locked_scope s(*this);
    if (std::exchange(stopped_, true)) return;
    for (const auto& [name, entry] : tasks_) {
        disarm(*entry);
        drop_runs(s, *entry, active_run::reason::stopped);
    }
}

// Breaks the reference cycles between tasks, runs and this object. A job that still runs on a user's executor may
// outlive the wheel, its context, the storage and the observer.
void task_scheduler_impl::end() {
    stop();
    pool_.join();
    std::unique_ptr<task_wheel> wheel;
    asio::any_io_executor executor, work;
    named<std::shared_ptr<const defined_job>> jobs;
    named<entry_ptr> tasks;
    const std::lock_guard lock(mutex_); // released before the objects above are destroyed
    wheel = std::exchange(wheel_, std::move(no_wheel_));
    executor.swap(options_.executor);
    work.swap(work_);
    jobs.swap(jobs_);
    tasks.swap(tasks_);
    while (finished_.pop() != nullptr) { // `tasks` holds them too
    }
    recorder_.detach();
    jitter_ = {};
    for (const auto& [name, entry] : tasks) {
        entry->gone = true;
        entry->runs.clear();
    }
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
