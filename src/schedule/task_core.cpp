// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table: its timers, and how tasks end.
#include <cogwheel/schedule/detail/task_section.hpp>

#include <algorithm>
#include <random>
#include <thread>

namespace cogwheel::detail {

using std::chrono::nanoseconds;

namespace {

std::uint64_t fresh_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

} // namespace

void task_entry::expired(std::uint64_t number) {
    if (const auto alive = core.lock()) alive->task_due(*this, number);
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
    const std::lock_guard lock(mutex_);
    jobs_.insert_or_assign(std::move(name), std::move(defined));
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

std::error_code task_core::arm(task_entry& e) {
    disarm(e);
    const auto next = e.machine.next();
    if (!next) return {};
    nanoseconds due = *next;
    if (e.spec.when.on_the_wall())
        due = saturating_add(wheel_->now(), std::min(saturating_add(due, -wheel_->wall()), options_.recheck));
    e.timer_number = ++last_timer_;
    return wheel_->arm(e.timer, due, e.shared_from_this(), e.timer_number);
}

void task_core::disarm(task_entry& e) noexcept {
    if (std::exchange(e.timer_number, 0) != 0) wheel_->cancel(e.timer);
}

// Its timer has expired, or one that somebody cancelled just then.
void task_core::task_due(task_entry& e, std::uint64_t number) {
    section s(*this);
    if (number != e.timer_number || stopped_) return;
    e.timer_number = 0;
    const entry_ptr entry = e.shared_from_this();
    const nanoseconds now = present_of(e.spec.when);
    task_machine::decision d;
    if (*e.machine.next() <= now) d = e.machine.expired(now);
    std::string message;
    if (const std::error_code refused = arm(e)) {
        e.machine.end();
        message = refused.message();
    }
    if (d.replace) drop_runs(s, e, active_run::reason::replaced);
    for (const nanoseconds point : d.begin) begin(s, entry, point);
    if (e.ended || !e.machine.finished()) return;
    if (message.empty()) message = make_error_code(schedule_errc::missed).message();
    finish(entry, task_state::failed, message);
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
    if (!entry->runs.empty()) return task_cancel_result::running;
    if (!entry->ended) finish(entry, task_state::cancelled, {});
    return task_cancel_result::cancelled;
}

// Those whose job runs are told to stop; the others are over.
void task_core::drop_runs(section& s, task_entry& e, active_run::reason why) {
    const auto runs = e.runs;
    for (const active_ptr& r : runs)
        if (tell_to_stop(s, *r, why)) run_over(s, r, task_state::cancelled, {});
}

// From the table, by its successor or its end: what it still does concerns nobody.
void task_core::remove(section& s, const entry_ptr& entry) {
    entry->gone = true;
    entry->machine.end();
    disarm(*entry);
    drop_runs(s, *entry, active_run::reason::replaced);
    if (entry->ended) finished_.erase(entry->finished_at);
}

void task_core::finish(const entry_ptr& entry, task_state state, const std::string& message) {
    entry->ended = state;
    if (!message.empty()) entry->message = message;
    disarm(*entry);
    if (entry->gone) return;
    if (!entry->cancelled) erase(*entry);
    notify(task_event::kind::finished, entry->spec.name, 0, entry->message);
    entry->finished_at = finished_.insert(finished_.end(), entry);
    if (finished_.size() <= options_.finished) return;
    const entry_ptr oldest = finished_.front();
    finished_.pop_front();
    tasks_.erase(oldest->spec.name);
}

bool task_core::forget(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto at = tasks_.find(name);
    if (at == tasks_.end() || !at->second->ended) return false;
    finished_.erase(at->second->finished_at);
    tasks_.erase(at);
    return true;
}

void task_core::stop() {
    section s(*this);
    if (std::exchange(stopped_, true)) return;
    for (const auto& [name, entry] : tasks_) {
        disarm(*entry);
        const auto runs = entry->runs;
        for (const active_ptr& r : runs)
            if (tell_to_stop(s, *r, active_run::reason::stopped)) run_over(s, r, task_state::cancelled, {});
    }
    line_.clear();
}

// Tasks and runs know each other and this: somebody has to let go.
void task_core::end() {
    stop();
    if (pool_) pool_->join();
    named<entry_ptr> tasks;
    std::list<entry_ptr> finished;
    const std::lock_guard lock(mutex_); // released before those two are destroyed
    tasks.swap(tasks_);
    finished.swap(finished_);
    for (const auto& [name, entry] : tasks) {
        entry->gone = true;
        entry->runs.clear();
    }
}

} // namespace cogwheel::detail
