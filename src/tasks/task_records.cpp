// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Continues stored tasks (recover), and reports tasks to the user (find, snapshot, counts).
#include "../detail/traceparent.hpp"
#include "locked_scope.hpp"
#include "new_tasks.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;
using phase = active_run::phase;

task_recovery task_scheduler_impl::recover() {
    locked_scope s(*this);
    task_recovery result;
    if (stopped_) throw sys::system_error(make_error_code(errc::stopped), "cogwheel::task_scheduler::recover");
    if (recorder_.storage() == nullptr)
        throw std::invalid_argument("cogwheel::task_scheduler::recover: there is no storage to recover from; "
                                    "give task_scheduler_options::storage");
    task_storage::contents all = recorder_.storage()->load();
    result.warnings = std::move(all.warnings);
    for (task_record& record : all.tasks) restore(s, std::move(record), result);
    return result;
}

void task_scheduler_impl::restore(locked_scope& s, task_record&& record, task_recovery& result) {
    if (const entry_ptr there = entry_named(record.task.name); there != nullptr && !there->ended) {
        result.warnings.push_back("task '" + record.task.name + "' was added before recover(), and stays as it is");
        return;
    }
    idle_.insert(record.task.name); // until it continues
    const auto job = jobs_.find(record.task.job);
    if (job == jobs_.end()) {
        result.unknown_jobs.push_back(record.task.name);
        return;
    }
    error_code bad = record.task.when.check();
    if (!bad && (record.runs_left < 0 || record.task.most_at_once == 0)) bad = task_errc::bad_times;
    if (bad) {
        result.warnings.push_back("task '" + record.task.name + "' makes no sense: " + bad.message());
        return;
    }
    if (std::string& trace = record.task.traceparent; !trace.empty() && !is_traceparent(trace)) {
        result.warnings.push_back("task '" + record.task.name + "' loses its traceparent, which is not one");
        trace.clear();
    }
    const auto entry =
        std::make_shared<task_entry>(shared_from_this(), std::move(record.task), job->second, options_.misfire_grace);
    const task_trigger& when = entry->spec.when;
    const auto point = [&](task_trigger::wall_point at) { return point_of(*wheel_, when, at); };
    std::list<nanoseconds> waiting;
    std::size_t active = 0;
    for (const task_run_record& r : record.runs) {
        if (r.attempt == 0)
            waiting.push_back(point(r.scheduled));
        else
            ++active;
    }
    if (when.until()) entry->machine.ends_at(point(*when.until()));
    entry->armed_at = wheel_->now(); // also if no run is due: one may have waited (due_by_wheel)
    entry->wall_then = wheel_->wall();
    entry->paused = record.paused;
    entry->result = std::move(record.result);
    const bool found_anew =
        entry->machine.resume(record.next ? std::optional(point(*record.next)) : std::nullopt, record.runs_left, active,
                              std::move(waiting), present_of(*wheel_, when));
    s.drop(entry);
    if (entry->machine.finished()) {
        result.warnings.push_back("task '" + entry->spec.name + "' has no run left");
        idle_.erase(entry->spec.name);
        return recorder_.erase(*entry);
    }
    // Makes all runs first: when one of them goes on, the record that is stored must contain the others as well.
    std::vector<active_ptr> runs;
    std::vector<std::string> interrupted;
    for (const task_run_record& r : record.runs) {
        if (r.attempt == 0) continue;
        runs.push_back(std::make_shared<active_run>(shared_from_this(), entry, r.scheduled));
        active_run& run = *runs.back();
        run.set_attempt(r.attempt - 1);
        run.run_number = ++last_run_;
        if (r.retry_at) {
            run.at = phase::between_attempts;
            run.retry_at = *r.retry_at;
        } else {
            run.next_attempt();
            run.note_interruption();
            interrupted.push_back(run.name());
        }
    }
    auto going_on = runs;
    result.interrupted.reserve(result.interrupted.size() + interrupted.size());
    new_tasks arriving(*this);
    if (const error_code refused = arriving.admit(entry)) {
        result.warnings.push_back("task '" + entry->spec.name + "' is not armed: " + refused.message());
        return;
    }
    if (active_ == 0 && !runs.empty()) work_ = wheel_->work();
    arriving.settle(s);
    ++result.tasks;
    std::move(interrupted.begin(), interrupted.end(), std::back_inserter(result.interrupted));
    active_ += runs.size();
    tally_.runs_began(runs.size());
    entry->runs.swap(runs);
    if (found_anew) recorder_.save(*entry);
    for (const active_ptr& run : going_on) go_on(s, run);
    begin_waiting(s, entry);
    if (!entry->ended && entry->machine.finished()) finish(s, entry, task_state::failed, {});
}

void task_scheduler_impl::go_on(locked_scope& s, const active_ptr& run) noexcept {
    if (run->at == phase::between_attempts) {
        nanoseconds pause = saturating_add(run->retry_at.time_since_epoch(), -wheel_->wall());
        if (run->scheduled() > wall()) // a clock that was ahead found this point, and that of the retry
            pause = std::min(pause, run->attempt() == 0 ? nanoseconds::zero() : pause_before_next(*run));
        return park(s, run, pause);
    }
    run->due_at = wheel_->now(); // to make it again; when it was due before is not stored
    recorder_.notify(task_event::kind::interrupted, run->name(), {}, run.get());
    if (options_.interrupted == interrupted_runs::again)
        submit(s, run);
    else
        s.reject(run, message_or_out_of_memory([] { return make_error_code(task_errc::interrupted).message(); }));
}

task_info task_scheduler_impl::info_of(const task_entry& e) const {
    task_info i;
    i.name = e.spec.name;
    i.job = e.spec.job;
    i.when = e.spec.when.text();
    i.state = e.state();
    i.paused = e.paused && !e.ended;
    if (const auto next = e.machine.next()) i.next = wall_of(*wheel_, e.spec.when, *next);
    i.runs_left = e.machine.left();
    if (!e.runs.empty()) i.attempt = e.runs.back()->attempt();
    i.completed = e.completed;
    i.failed = e.failed;
    i.cancelled = e.cancellations;
    i.missed = e.machine.missed();
    i.dropped = e.machine.dropped();
    i.message = e.message;
    i.result = e.result;
    i.traceparent = e.spec.traceparent;
    i.history.assign(e.history.begin(), e.history.end());
    return i;
}

std::optional<task_info> task_scheduler_impl::find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const entry_ptr entry = entry_named(name);
    return entry != nullptr ? std::optional(info_of(*entry)) : std::nullopt;
}

std::vector<task_info> task_scheduler_impl::snapshot() const {
    std::vector<task_info> all;
    {
        const std::lock_guard lock(mutex_);
        all.reserve(tasks_.size());
        for (const auto& [name, entry] : tasks_) all.push_back(info_of(*entry));
    }
    std::sort(all.begin(), all.end(), [](const task_info& a, const task_info& b) { return a.name < b.name; });
    return all;
}

namespace {

void count(task_counts& n, task_state state) noexcept {
    n.pending += state == task_state::pending;
    n.queued += state == task_state::queued;
    n.running += state == task_state::running;
}

} // namespace

task_counts task_scheduler_impl::counts() const {
    const std::lock_guard lock(mutex_);
    task_counts n;
    n.jobs = active_;
    n.finished = finished_.size();
    for (const auto& [name, entry] : tasks_) count(n, entry->state());
    return n;
}

task_stats task_scheduler_impl::stats() const {
    const std::vector<nanoseconds> reaches = wheel_->reaches();
    std::vector<std::size_t> by_level(std::max<std::size_t>(reaches.size(), 1));
    const std::lock_guard lock(mutex_);
    task_stats s = tally_.totals();
    s.tasks.jobs = active_;
    s.tasks.finished = finished_.size();
    const nanoseconds now = wheel_->now();
    for (const auto& [name, entry] : tasks_) {
        const task_state state = entry->state();
        count(s.tasks, state);
        if (entry->paused && !entry->ended) ++s.paused;
        for (const active_ptr& run : entry->runs)
            if (run->at == phase::queued || (run->at == phase::on_its_way && run->in_pool)) ++s.queue;
        if (state != task_state::pending || entry->timer_number == 0) continue;
        const nanoseconds ahead = detail::saturating_add(entry->timer_due, -now);
        std::size_t level = 0;
        while (level + 1 < reaches.size() && reaches[level] < ahead) ++level;
        ++by_level[level];
    }
    s.by_level = std::move(by_level);
    return s;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
