// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table: its timers, and how tasks end.
#include <cogwheel/schedule/detail/fresh_seed.hpp>
#include <cogwheel/schedule/detail/task_section.hpp>

#include <algorithm>
#include <thread>

namespace cogwheel::detail {

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
        if (r->at == in_line || r->at == on_its_way) now = task_state::queued;
    }
    return now;
}

void task_entry::expired(std::uint64_t number) {
    if (const auto alive = core.lock()) alive->task_due(*this, number);
}

void task_entry::dropped(std::uint64_t number) {
    if (const auto alive = core.lock()) alive->task_dropped(*this, number);
}

task_core::task_core(std::unique_ptr<task_wheel> wheel, task_scheduler_options options)
    : wheel_(std::move(wheel)), options_(std::move(options)), jitter_(options_.random), own_random_(fresh_seed()) {
    if (options_.executor) return;
    const std::size_t threads =
        options_.pool.threads != 0 ? options_.pool.threads : std::max(std::thread::hardware_concurrency(), 1U);
    pool_limit_ = threads + options_.pool.queue;
    pool_.emplace(threads);
}

void task_core::define(std::string name, task_job job, job_options options) {
    if (name.empty()) throw std::invalid_argument("cogwheel::task_scheduler: a job that is defined needs a name");
    options.validate();
    auto defined = std::make_shared<const defined_job>(std::move(job), std::move(options));
    section s(*this);
    const auto [at, fresh] = jobs_.try_emplace(std::move(name), defined);
    if (fresh) return;
    s.drop(at->second);
    at->second = std::move(defined);
}

task_core::entry_ptr task_core::entry_named(std::string_view name) const {
    const auto at = tasks_.find(name);
    return at != tasks_.end() ? at->second : nullptr;
}

nanoseconds task_core::present_of(const task_trigger& t) const {
    return t.on_the_wall() ? wheel_->wall() : wheel_->now();
}

task_core::wall_point task_core::wall_of(const task_trigger& t, nanoseconds point) const {
    if (t.on_the_wall()) return wall_point(point);
    return wall_point(saturating_add(wheel_->wall(), saturating_add(point, -wheel_->now())));
}

std::error_code task_core::arm(task_entry& e, bool admitted) {
    disarm(e);
    const auto next = e.machine.next();
    if (!next) return {};
    nanoseconds due = *next;
    if (e.spec.when.on_the_wall()) {
        e.armed_at = wheel_->now();
        e.wall_then = wheel_->wall();
        due = saturating_add(e.armed_at, std::min(saturating_add(due, -e.wall_then), options_.recheck));
    }
    const std::error_code refused = wheel_->arm(e.timer, due, e.weak_from_this(), ++last_timer_, admitted);
    if (!refused) e.timer_number = last_timer_;
    return refused;
}

void task_core::disarm(task_entry& e) noexcept {
    if (std::exchange(e.timer_number, 0) != 0) wheel_->cancel(e.timer);
    adrift_.take(e);
}

// In a tick or so, as there was no memory. False: nor is there for the timer.
bool task_core::come_back(task_entry& e) noexcept {
    try {
        const auto soon = saturating_add(wheel_->now(), std::chrono::milliseconds(1));
        if (!wheel_->arm(e.timer, soon, e.weak_from_this(), ++last_timer_, true)) e.timer_number = last_timer_;
        return true;
    } catch (...) {
        adrift_.push(e.shared_from_this());
        return false;
    }
}

// With each section, as one may have brought memory.
void task_core::arm_adrift() noexcept {
    while (const entry_ptr entry = adrift_.pop())
        if (!come_back(*entry)) return;
}

// The wheel's clock tells how far the one on the wall should have come. One that was ahead and is set right would keep a cron task waiting
// for the point that it found then, and so would the storage.
void task_core::look_at_the_wall(task_entry& e) {
    if (!e.spec.when.on_the_wall()) return;
    const nanoseconds elapsed = saturating_add(wheel_->now(), -e.armed_at), now = wheel_->wall();
    const nanoseconds put_back = saturating_add(saturating_add(e.wall_then, elapsed), -now);
    if (put_back > nanoseconds::zero() && e.machine.clock_put_back(put_back, elapsed, now)) save(e);
}

// Its timer has expired, or one that somebody cancelled just then.
void task_core::task_due(task_entry& e, std::uint64_t number) {
    section s(*this);
    if (number != e.timer_number || stopped_) return;
    e.timer_number = 0;
    const entry_ptr entry = e.shared_from_this();
    std::optional<task_machine::progress> before;
    task_machine::decision d;
    std::vector<active_ptr> runs;
    try {
        look_at_the_wall(e);
        const nanoseconds now = present_of(e.spec.when);
        before = e.machine.present();
        if (*e.machine.next() <= now) d = e.machine.expired(now);
        runs = make_runs(entry, d.begin);
        arm(e, true); // one that was stopped leaves what is written down
    } catch (...) {
        if (before) e.machine.go_back_to(std::move(*before));
        if (active_ == 0) work_ = {};
        come_back(e);
        throw;
    }
    if (d.replace) drop_runs(s, e, active_run::reason::replaced);
    for (const active_ptr& run : runs) begin(s, run);
    if (!e.ended && e.machine.finished())
        finish(s, entry, task_state::failed, make_error_code(schedule_errc::missed).message());
}

// All timers of the wheel were cancelled, or it was stopped.
void task_core::task_dropped(task_entry& e, std::uint64_t number) {
    section s(*this);
    if (number != e.timer_number || stopped_) return;
    e.timer_number = 0;
    try {
        look_at_the_wall(e);
        arm(e, true);
    } catch (...) {
        come_back(e);
        throw;
    }
}

task_cancel_result task_core::cancel(std::string_view name) {
    section s(*this);
    const auto at = tasks_.find(name);
    if (at == tasks_.end() || at->second->ended) return task_cancel_result::not_found;
    const entry_ptr entry = at->second;
    entry->cancelled = true;
    entry->cut_short = entry->machine.next() || !entry->machine.waiting().empty();
    entry->machine.end();
    disarm(*entry);
    erase(*entry); // a job that runs now does not run again, whatever happens
    drop_runs(s, *entry, active_run::reason::cancelled);
    if (entry->runs_now()) return task_cancel_result::running;
    if (!entry->ended) finish(s, entry, task_state::cancelled, {});
    return task_cancel_result::cancelled;
}

// Those whose job runs are told to stop; the others are over.
void task_core::drop_runs(section& s, task_entry& e, active_run::reason why) noexcept {
    std::size_t i = 0;
    for (std::size_t n = e.runs.size(); n != 0; --n) { // those that begin meanwhile come after them
        const active_ptr run = e.runs[i];
        if (tell_to_stop(s, *run, why)) run_over(s, run, task_state::cancelled, {});
        if (i < e.runs.size() && e.runs[i] == run) ++i;
    }
}

// From the table, by its successor or its end: what it still does concerns nobody.
void task_core::remove(section& s, const entry_ptr& entry) noexcept {
    entry->gone = true;
    entry->machine.end();
    disarm(*entry);
    drop_runs(s, *entry, active_run::reason::replaced);
    entry->runs.clear(); // they belong to their jobs now
    s.drop_entry(entry);
}

void task_core::finish(section& s, const entry_ptr& entry, task_state state, const std::string& message) noexcept {
    entry->ended = state;
    if (!message.empty()) note(entry->message, message);
    disarm(*entry);
    if (entry->gone) return;
    if (!entry->cancelled) erase(*entry);
    notify(task_event::kind::finished, entry->spec.name, 0, message);
    finished_.push(entry);
    if (finished_.size() <= options_.finished) return;
    const entry_ptr oldest = finished_.pop();
    s.drop_entry(oldest);
    tasks_.erase(oldest->spec.name);
}

bool task_core::forget(std::string_view name) {
    section s(*this);
    const auto at = tasks_.find(name);
    if (at == tasks_.end() || !at->second->ended) return false;
    s.drop_entry(at->second);
    tasks_.erase(at);
    return true;
}

void task_core::stop() {
    section s(*this);
    if (std::exchange(stopped_, true)) return;
    for (const auto& [name, entry] : tasks_) {
        disarm(*entry);
        drop_runs(s, *entry, active_run::reason::stopped);
    }
}

// Tasks and runs know each other and this: somebody has to let go. A job that still runs on somebody's executor may outlive the wheel,
// its context, the storage and the observer.
void task_core::end() {
    stop();
    if (pool_) pool_->join();
    std::unique_ptr<task_wheel> wheel;
    asio::any_io_executor executor, work;
    named<std::shared_ptr<const defined_job>> jobs;
    named<entry_ptr> tasks;
    const std::lock_guard lock(mutex_); // released before those are destroyed
    wheel = std::exchange(wheel_, std::move(no_wheel_));
    executor.swap(options_.executor);
    work.swap(work_);
    jobs.swap(jobs_);
    tasks.swap(tasks_);
    while (finished_.pop() != nullptr) { // they are among the tasks
    }
    options_.storage = nullptr;
    options_.observer = nullptr;
    jitter_ = {};
    for (const auto& [name, entry] : tasks) {
        entry->gone = true;
        entry->runs.clear();
    }
}

} // namespace cogwheel::detail
