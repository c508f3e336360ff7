// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A run's way: in line for the pool, on its way to a thread, running, between attempts, over.
#include <cogwheel/schedule/detail/task_section.hpp>
#include <cogwheel/schedule/detail/task_words.hpp>

#include <asio/error.hpp>

#include <algorithm>

namespace cogwheel {

void task_run::throw_if_stopped() const {
    if (stop_requested()) throw std::system_error(asio::error::operation_aborted, "told to stop");
}

namespace detail {

using std::chrono::nanoseconds;
using phase = active_run::phase;
using reason = active_run::reason;

std::string words_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "an exception that is no std::exception";
    }
}

void active_run::expired(std::uint64_t number) {
    const auto self = shared_from_this();
    core->run_due(*this, number);
}

void active_run::dropped(std::uint64_t number) {
    const auto self = shared_from_this();
    core->run_dropped(*this, number);
}

void active_run::ended(const std::exception_ptr& thrown, std::error_code error) noexcept {
    const auto self = shared_from_this();
    core->job_ended(*this, thrown, error);
}

void task_core::begin(section& s, const entry_ptr& entry, nanoseconds point) {
    active_ptr run;
    try {
        run = std::make_shared<active_run>(shared_from_this(), entry, wall_of(entry->spec.when, point));
        entry->runs.push_back(run);
    } catch (...) { // no memory: this run has failed, the task goes on
        entry->machine.ended();
        ++entry->failed;
        return notify(task_event::kind::failed, entry->spec.name, 0, {});
    }
    if (active_++ == 0) work_ = wheel_->work();
    run->next_attempt();
    submit(s, run);
}

// To the executor, or in line for it. Each attempt anew.
void task_core::submit(section& s, const active_ptr& run) {
    const bool elsewhere = run->of->job->options.executor || options_.executor;
    if (elsewhere || in_pool_ < pool_limit_) {
        try {
            return hand_over(run);
        } catch (...) {
            s.rejected.emplace_back(run, words_of(std::current_exception()));
            return;
        }
    }
    const full_policy& policy = options_.pool.when_full;
    switch (policy.what()) {
    case full_policy::kind::run_on_caller:
        run->at = phase::on_its_way;
        s.to_run.push_back(run);
        return;
    case full_policy::kind::wait_for:
        arm(*run, policy.limit());
        [[fallthrough]];
    case full_policy::kind::wait:
        run->at = phase::in_line;
        run->place = line_.insert(line_.end(), run);
        return;
    case full_policy::kind::reject:
        s.rejected.emplace_back(run, make_error_code(schedule_errc::queue_full).message());
    }
}

void task_core::hand_over(const active_ptr& run) {
    run->at = phase::on_its_way;
    const auto& own = run->of->job->options.executor;
    const auto go = [run] { run->core->execute(run); };
    if (own) return asio::post(own, go);
    if (options_.executor) return asio::post(options_.executor, go);
    asio::post(*pool_, go);
    run->in_pool = true;
    ++in_pool_;
}

// On the thread on which the job is to run.
void task_core::execute(const active_ptr& run) {
    asio::any_io_executor where;
    {
        section s(*this);
        if (run->at == phase::over) return leave_pool(s, *run);
        run->at = phase::running;
        run->started = wall();
        if (const auto limit = run->of->job->options.time_limit; limit && arm(*run, *limit)) {
            leave_pool(s, *run);
            run->set_attempt(run->attempt() - 1); // it is still to be made
            return park(s, run, nanoseconds::zero());
        }
        // What cannot be written down must not run: it would run again.
        if (const std::string trouble = save(*run->of); !trouble.empty()) {
            leave_pool(s, *run);
            return attempt_over(s, run, task_state::failed, trouble);
        }
        notify(task_event::kind::started, run->name(), run->attempt(), {});
        const auto& own = run->of->job->options.executor;
        where = own ? own : options_.executor ? options_.executor : pool_->get_executor(); // end() takes it away
    }
    try {
        run->of->job->job.start(run, where);
    } catch (...) {
        job_ended(*run, std::current_exception(), {});
    }
}

void task_core::job_ended(active_run& r, const std::exception_ptr& thrown, std::error_code error) {
    section s(*this);
    const active_ptr run = r.shared_from_this();
    leave_pool(s, r);
    if (thrown == nullptr && !error) return attempt_over(s, run, task_state::completed, {});
    std::string message = thrown != nullptr ? words_of(thrown) : error.message();
    task_state state = task_state::cancelled;
    if (r.why == reason::none || r.why == reason::limit) state = task_state::failed;
    if (r.why == reason::limit)
        message = "told to stop after its time limit of " + words(*r.of->job->options.time_limit) + ": " + message;
    attempt_over(s, run, state, message);
}

// Its limit, the end of its patience in line, or the next attempt.
void task_core::run_due(active_run& r, std::uint64_t number) {
    section s(*this);
    if (number != r.timer_number) return;
    r.timer_number = 0;
    const active_ptr run = r.shared_from_this();
    if (r.at == phase::running) {
        tell_to_stop(s, r, reason::limit);
    } else if (r.at == phase::in_line) {
        leave_line(r);
        attempt_over(s, run, task_state::failed,
                     "it waited in line for the pool as long as it may, " + words(options_.pool.when_full.limit()));
    } else if (r.at == phase::between_attempts) {
        r.next_attempt();
        submit(s, run);
    }
}

// All timers of the wheel were cancelled, or it was stopped: then a job goes on without its limit, and the next attempt is for recover().
void task_core::run_dropped(active_run& r, std::uint64_t number) {
    section s(*this);
    if (number != r.timer_number) return;
    r.timer_number = 0;
    if (arm(r, saturating_add(r.timer_due, -wheel_->now())) && r.at == phase::between_attempts)
        interrupt(s, r.shared_from_this());
}

// True: no job of it runs, it can be ended by the caller.
bool task_core::tell_to_stop(section& s, active_run& r, reason why) {
    if (r.why == reason::none || r.why == reason::limit) r.why = why;
    if (r.at != phase::running) return r.at != phase::over;
    s.to_stop.push_back(r.stop());
    return false;
}

// True: the caller is to run them.
bool task_core::join_callers(caller& here, std::list<active_ptr>& runs) noexcept {
    if (runs.empty()) return false;
    caller* first = callers_;
    while (first != nullptr && first->thread != here.thread) first = first->below;
    caller& who = first != nullptr ? *first : here;
    who.queue.splice(who.queue.end(), runs);
    if (first != nullptr) return false;
    here.below = std::exchange(callers_, &here);
    return true;
}

// None: it is one no longer.
task_core::active_ptr task_core::next_of(caller& here) {
    const std::lock_guard lock(mutex_);
    if (here.queue.empty()) {
        caller** link = &callers_;
        while (*link != &here) link = &(*link)->below;
        *link = here.below;
        return nullptr;
    }
    active_ptr run = std::move(here.queue.front());
    here.queue.pop_front();
    return run;
}

void task_core::leave_pool(section& s, active_run& r) {
    if (!std::exchange(r.in_pool, false)) return;
    --in_pool_;
    while (!line_.empty() && in_pool_ < pool_limit_) {
        const active_ptr next = line_.front();
        leave_line(*next);
        disarm(*next);
        submit(s, next);
    }
}

void task_core::leave_line(active_run& r) noexcept {
    line_.erase(r.place);
    r.at = phase::on_its_way;
}

std::error_code task_core::arm(active_run& r, nanoseconds delay) {
    r.timer_due = saturating_add(wheel_->now(), delay);
    const std::error_code refused = wheel_->arm(r.timer, r.timer_due, r.weak_from_this(), ++last_timer_, true);
    if (!refused) r.timer_number = last_timer_;
    return refused;
}

void task_core::disarm(active_run& r) noexcept {
    if (std::exchange(r.timer_number, 0) != 0) wheel_->cancel(r.timer);
}

void task_core::attempt_over(section& s, const active_ptr& run, task_state state, const std::string& message) {
    disarm(*run);
    task_entry& e = *run->of;
    const wall_point now = wall();
    const bool began = run->at == phase::running;
    if (options_.history != 0) {
        if (e.history.size() >= options_.history) e.history.erase(e.history.begin());
        e.history.push_back({run->scheduled(), began ? run->started : now, now, run->attempt(), state, message});
    }
    if (state == task_state::failed && !e.gone && !e.cancelled && !stopped_ && retry(s, run, message)) return;
    run_over(s, run, state, message);
}

bool task_core::retry(section& s, const active_ptr& run, const std::string& message) {
    if (run->attempt() >= run->of->job->options.attempts) return false;
    run->waited = pause_before_next(*run);
    run->of->message = message;
    notify(task_event::kind::retrying, run->name(), run->attempt(), message);
    park(s, run, run->waited);
    return true;
}

nanoseconds task_core::pause_before_next(const active_run& r) {
    const backoff& pauses = r.of->job->options.backoff;
    if (jitter_) {
        try {
            return pauses.next(r.attempt(), r.waited, jitter_);
        } catch (...) {
            // The user's generator has failed: ours does as well.
        }
    }
    return pauses.next(r.attempt(), r.waited, own_random_);
}

// Until its next attempt.
void task_core::park(section& s, const active_ptr& run, nanoseconds delay) {
    run->at = phase::between_attempts;
    run->retry_at = wall_point(saturating_add(wheel_->wall(), delay));
    const std::error_code refused = arm(*run, delay);
    save(*run->of);
    if (refused) interrupt(s, run);
}

// It is over for this process, and recover() goes on with it.
void task_core::interrupt(section& s, const active_ptr& run) {
    run->why = reason::stopped;
    run_over(s, run, task_state::cancelled, {});
}

void task_core::run_over(section& s, const active_ptr& run, task_state state, const std::string& message) {
    const entry_ptr entry = run->of;
    task_entry& e = *entry;
    if (run->at == phase::in_line) leave_line(*run);
    disarm(*run);
    // One that was stopped with the scheduler stays written down: recover() goes on with it.
    const bool interrupted = run->why == reason::stopped && state == task_state::cancelled && !e.gone;
    run->kept = std::exchange(run->at, phase::over);
    if (!interrupted) std::erase(e.runs, run);
    if (--active_ == 0) work_ = {};
    s.drop(run);
    ++(state == task_state::completed ? e.completed : state == task_state::failed ? e.failed : e.cancellations);
    if (state == task_state::failed || !message.empty()) e.message = message;
    const auto what = state == task_state::completed ? task_event::kind::completed
                      : state == task_state::failed  ? task_event::kind::failed
                                                     : task_event::kind::cancelled;
    notify(what, e.spec.name, run->attempt(), message);
    if (e.gone || interrupted) return;
    e.machine.ended();
    if (!stopped_) {
        if (const auto point = e.machine.begin_waiting()) begin(s, entry, *point);
    }
    if (e.ended) return;
    if (e.cancelled) {
        if (e.runs.empty()) finish(s, entry, e.cut_short ? task_state::cancelled : state, message);
    } else if (e.machine.finished()) {
        finish(s, entry, state, message);
    } else {
        save(e);
    }
}

} // namespace detail

} // namespace cogwheel
