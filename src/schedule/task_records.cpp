// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks as others see them: storage, observer, snapshots; and how they come back from the storage.
#include <cogwheel/schedule/detail/task_arrivals.hpp>
#include <cogwheel/schedule/detail/task_section.hpp>

#include <algorithm>

namespace cogwheel::detail {

using std::chrono::nanoseconds;
using phase = active_run::phase;

task_record task_core::record_of(const task_entry& e) const {
    task_record r{e.spec, e.machine.left(), {}, {}};
    if (const auto next = e.machine.next()) r.next = wall_of(e.spec.when, *next);
    for (const active_ptr& run : e.runs) {
        task_run_record& under_way = r.runs.emplace_back();
        under_way.scheduled = run->scheduled();
        under_way.attempt = run->attempt();
        const phase at = run->at == phase::over ? run->kept : run->at;
        if (at == phase::between_attempts) {
            ++under_way.attempt; // the next one
            under_way.retry_at = run->retry_at;
        } else if (at != phase::running && !run->interrupted()) {
            under_way.retry_at = run->scheduled(); // it has not begun
        }
    }
    for (const nanoseconds point : e.machine.waiting()) r.runs.emplace_back().scheduled = wall_of(e.spec.when, point);
    return r;
}

std::string task_core::save(const task_entry& e) noexcept {
    if (!written_down(e) || e.gone || e.cancelled || e.ended) return {};
    try {
        options_.storage->save(record_of(e));
        return {};
    } catch (...) {
        std::string message = words_of(std::current_exception());
        notify(task_event::kind::unrecorded, e.spec.name, 0, message);
        return message;
    }
}

void task_core::erase(const task_entry& e) noexcept {
    if (!written_down(e)) return;
    try {
        options_.storage->erase(e.spec.name);
    } catch (...) {
        notify(task_event::kind::unrecorded, e.spec.name, 0, words_of(std::current_exception()));
    }
}

void task_core::notify(task_event::kind what, const std::string& name, std::uint32_t attempt,
                       const std::string& message) noexcept {
    if (options_.observer != nullptr) options_.observer->on_event({what, name, attempt, wall(), message});
}

task_recovery task_core::recover() {
    section s(*this);
    task_recovery result;
    if (stopped_) throw std::system_error(make_error_code(errc::stopped), "cogwheel::task_scheduler::recover");
    if (options_.storage == nullptr)
        throw std::invalid_argument("cogwheel::task_scheduler::recover: there is no storage to recover from; "
                                    "give task_scheduler_options::storage");
    task_storage::contents all = options_.storage->load();
    result.warnings = std::move(all.warnings);
    for (task_record& record : all.tasks) restore(s, std::move(record), result);
    return result;
}

void task_core::restore(section& s, task_record&& record, task_recovery& result) {
    const auto job = jobs_.find(record.task.job);
    if (job == jobs_.end()) {
        result.unknown_jobs.push_back(record.task.name);
        return;
    }
    if (const entry_ptr there = entry_named(record.task.name); there != nullptr && !there->ended) {
        result.warnings.push_back("task '" + record.task.name + "' was added before recover(), and stays as it is");
        return;
    }
    std::error_code bad = record.task.when.check();
    if (!bad && record.runs_left < 0) bad = schedule_errc::bad_times;
    if (bad) {
        result.warnings.push_back("task '" + record.task.name + "' makes no sense: " + bad.message());
        return;
    }
    const auto entry =
        std::make_shared<task_entry>(shared_from_this(), std::move(record.task), job->second, options_.misfire_grace);
    const task_trigger& when = entry->spec.when;
    const auto point_of = [&](task_trigger::wall_point at) {
        const nanoseconds wall = at.time_since_epoch();
        return when.on_the_wall() ? wall : saturating_add(wheel_->now(), saturating_add(wall, -wheel_->wall()));
    };
    std::list<nanoseconds> waiting;
    std::size_t active = 0;
    for (const task_run_record& r : record.runs) {
        if (r.attempt == 0)
            waiting.push_back(point_of(r.scheduled));
        else
            ++active;
    }
    const bool found_anew = entry->machine.resume(record.next ? std::optional(point_of(*record.next)) : std::nullopt,
                                                  record.runs_left, active, std::move(waiting), present_of(when));
    s.drop(entry);
    if (entry->machine.finished()) {
        result.warnings.push_back("task '" + entry->spec.name + "' has no run left");
        return erase(*entry);
    }
    // All of them first: what is written down when one goes on has the others as well.
    std::vector<active_ptr> runs;
    std::vector<std::string> interrupted;
    for (const task_run_record& r : record.runs) {
        if (r.attempt == 0) continue;
        runs.push_back(std::make_shared<active_run>(shared_from_this(), entry, r.scheduled));
        active_run& run = *runs.back();
        run.set_attempt(r.attempt - 1);
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
    arrivals arriving(*this);
    if (const std::error_code refused = arriving.admit(entry)) {
        result.warnings.push_back("task '" + entry->spec.name + "' is not armed: " + refused.message());
        return;
    }
    if (active_ == 0 && !runs.empty()) work_ = wheel_->work();
    arriving.settle(s);
    ++result.tasks;
    std::move(interrupted.begin(), interrupted.end(), std::back_inserter(result.interrupted));
    active_ += runs.size();
    entry->runs.swap(runs);
    if (found_anew) save(*entry);
    for (const active_ptr& run : going_on) go_on(s, run);
    begin_waiting(s, entry);
    if (!entry->ended && entry->machine.finished()) finish(s, entry, task_state::failed, {});
}

void task_core::go_on(section& s, const active_ptr& run) noexcept {
    if (run->at == phase::between_attempts) {
        nanoseconds pause = saturating_add(run->retry_at.time_since_epoch(), -wheel_->wall());
        if (run->scheduled() > wall()) // by a clock that was ahead, as was the one that said when to try again
            pause = std::min(pause, run->attempt() == 0 ? nanoseconds::zero() : pause_before_next(*run));
        return park(s, run, pause);
    }
    notify(task_event::kind::interrupted, run->name(), run->attempt(), {});
    if (options_.interrupted == interrupted_runs::again)
        submit(s, run);
    else
        s.reject(run, worded([] { return make_error_code(schedule_errc::interrupted).message(); }));
}

task_info task_core::info_of(const task_entry& e) const {
    task_info i;
    i.name = e.spec.name;
    i.job = e.spec.job;
    i.when = e.spec.when.text();
    i.state = e.state();
    if (const auto next = e.machine.next()) i.next = wall_of(e.spec.when, *next);
    i.runs_left = e.machine.left();
    if (!e.runs.empty()) i.attempt = e.runs.back()->attempt();
    i.completed = e.completed;
    i.failed = e.failed;
    i.cancelled = e.cancellations;
    i.missed = e.machine.missed();
    i.dropped = e.machine.dropped();
    i.message = e.message;
    i.history.assign(e.history.begin(), e.history.end());
    return i;
}

std::optional<task_info> task_core::find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const entry_ptr entry = entry_named(name);
    return entry != nullptr ? std::optional(info_of(*entry)) : std::nullopt;
}

std::vector<task_info> task_core::snapshot() const {
    std::vector<task_info> all;
    {
        const std::lock_guard lock(mutex_);
        all.reserve(tasks_.size());
        for (const auto& [name, entry] : tasks_) all.push_back(info_of(*entry));
    }
    std::sort(all.begin(), all.end(), [](const task_info& a, const task_info& b) { return a.name < b.name; });
    return all;
}

task_counts task_core::counts() const {
    const std::lock_guard lock(mutex_);
    task_counts n;
    n.jobs = active_;
    n.finished = finished_.size();
    for (const auto& [name, entry] : tasks_) {
        const task_state s = entry->state();
        n.pending += s == task_state::pending;
        n.queued += s == task_state::queued;
        n.running += s == task_state::running;
    }
    return n;
}

} // namespace cogwheel::detail
