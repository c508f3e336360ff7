// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The phases of a run: in line for the pool, on its way to a thread, running, between attempts, over.
#include "locked_scope.hpp"

#include <cogwheel/tasks/detail/task_words.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(multiple_exceptions.hpp)

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void task_run::result(std::string text) {
    if (text.size() > max_result)
        throw std::length_error("cogwheel::task_run: a result has " + std::to_string(text.size()) +
                                " bytes, but must not exceed " + std::to_string(max_result) +
                                "; store the data elsewhere, and its place here");
    result_ = std::move(text);
}

void task_run::throw_if_stopped() const {
    if (stop_requested()) throw detail::sys::system_error(asio::error::operation_aborted, "told to stop");
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;
using phase = active_run::phase;
using reason = active_run::reason;

std::string message_of(const std::exception_ptr& thrown) noexcept {
    return message_or_out_of_memory([&]() -> std::string {
        try {
            std::rethrow_exception(thrown);
        } catch (const asio::multiple_exceptions& all) { // of a && b and a || b
            return message_of(all.first_exception());
        } catch (const std::exception& e) {
            return e.what();
        } catch (...) {
            return "an exception that is no std::exception";
        }
    });
}

void active_run::expired(std::uint64_t number) {
    const auto self = shared_from_this();
    impl->run_due(*this, number);
}

void active_run::dropped(std::uint64_t number) {
    const auto self = shared_from_this();
    impl->run_dropped(*this, number);
}

void active_run::ended(const std::exception_ptr& thrown, error_code error) noexcept {
    const auto self = shared_from_this();
    impl->job_ended(*this, thrown, error);
}

// Allocates all that these runs need to begin. They are due `jitter` after their points; that of runs that have waited
// is not known any more. Errors: std::bad_alloc; then nothing has changed, except that run() may be held.
std::vector<task_scheduler_impl::active_ptr>
task_scheduler_impl::make_runs(const entry_ptr& entry, const std::vector<nanoseconds>& points, nanoseconds jitter) {
    std::vector<active_ptr> made;
    if (points.empty()) return made;
    made.reserve(points.size());
    const nanoseconds now = wheel_->now();
    const nanoseconds to_wall =
        entry->spec.when.on_the_wall() ? nanoseconds::zero() : saturating_add(wheel_->wall(), -now);
    for (const nanoseconds point : points) {
        made.push_back(
            std::make_shared<active_run>(shared_from_this(), entry, wall_point(saturating_add(point, to_wall))));
        made.back()->next_attempt();
        made.back()->due_at = due_by_wheel(*entry, saturating_add(point, jitter), now);
        made.back()->run_number = ++last_run_;
    }
    auto& all = entry->runs;
    if (all.capacity() - all.size() < made.size()) all.reserve(std::max(2 * all.size(), all.size() + made.size()));
    if (active_ == 0) work_ = wheel_->work();
    return made;
}

void task_scheduler_impl::begin(locked_scope& s, const active_ptr& run) noexcept {
    run->of->runs.push_back(run);
    ++active_;
    tally_.runs_began(1);
    submit(s, run);
}

// Begins the runs that have waited, as long as there is room.
void task_scheduler_impl::begin_waiting(locked_scope& s, const entry_ptr& entry) noexcept {
    task_entry& e = *entry;
    if (e.paused) return;
    while (const auto point = e.machine.begin_waiting()) {
        try {
            begin(s, make_runs(entry, {*point}).front());
        } catch (...) { // no memory: this run has failed, and the task goes on
            e.machine.ended();
            ++e.failed;
            tally_.runs_began(1);
            tally_.run_ended(task_state::failed);
            e.message = message_of(std::current_exception());
            recorder_.notify(task_event::kind::failed, e.spec.name, e.message);
        }
    }
}

// Hands an attempt over to its executor, or puts it in line for the pool. Called for each attempt.
void task_scheduler_impl::submit(locked_scope& s, const active_ptr& run) noexcept {
    const bool elsewhere = run->of->job->options.executor || options_.executor;
    if (elsewhere || pool_.has_room()) {
        try {
            return hand_over(run);
        } catch (...) {
            return s.reject(run, message_of(std::current_exception()));
        }
    }
    const full_policy& policy = options_.pool.when_full;
    switch (policy.what()) {
    case full_policy::kind::run_on_caller:
        run->at = phase::on_its_way;
        s.to_run.push(run);
        return;
    case full_policy::kind::wait_for:
        if (const auto refused = arm(*run, policy.limit()); refused == sys::errc::not_enough_memory)
            return s.reject(run, message_or_out_of_memory([&] { return refused.message(); }));
        [[fallthrough]];
    case full_policy::kind::wait:
        return pool_.enqueue(run);
    case full_policy::kind::reject:
        s.reject(run, message_or_out_of_memory([] { return make_error_code(task_errc::queue_full).message(); }));
    }
}

void task_scheduler_impl::hand_over(const active_ptr& run) {
    run->at = phase::on_its_way;
    const auto& own = run->of->job->options.executor;
    const auto go = [run] { run->impl->execute(run); };
    if (own) return asio::post(own, go);
    if (options_.executor) return asio::post(options_.executor, go);
    pool_.post(*run, go);
}

// Starts the job. Called on the thread on which the job runs.
void task_scheduler_impl::execute(const active_ptr& run) noexcept {
    asio::any_io_executor where;
    {
        locked_scope s(*this);
        if (run->at == phase::over) return leave_pool(s, *run);
        run->at = phase::running;
        run->started = wall();
        run->began = wheel_->now();
        const auto limit = run->of->job->options.timeout;
        if (limit && arm_at(*run, saturating_add(run->began, *limit))) {
            leave_pool(s, *run);
            run->set_attempt(run->attempt() - 1); // this attempt is still to be made
            return park(s, run, nanoseconds::zero());
        }
        // An attempt that cannot be stored must not run: recover() would run it again without a report.
        if (const std::string trouble = recorder_.save(*run->of); !trouble.empty()) {
            leave_pool(s, *run);
            return put_off(s, run, trouble);
        }
        tally_.attempt_began(run->attempt(), saturating_add(run->began, -run->due_at));
        recorder_.notify(task_event::kind::started, run->name(), {}, run.get());
        const auto& own = run->of->job->options.executor;
        where = own ? own : options_.executor ? options_.executor : pool_.executor(); // copied: end() clears it
    }
    try {
        run->of->job->job.start(run, where);
    } catch (...) {
        job_ended(*run, std::current_exception(), {});
    }
}

void task_scheduler_impl::job_ended(active_run& r, const std::exception_ptr& thrown, error_code error) noexcept {
    locked_scope s(*this);
    const active_ptr run = r.shared_from_this();
    tally_.job_ended(wheel_->now() - r.began);
    leave_pool(s, r);
    if (thrown == nullptr && !error) return attempt_over(s, run, task_state::completed, {});
    std::string message =
        thrown != nullptr ? message_of(thrown) : message_or_out_of_memory([&] { return error.message(); });
    task_state state = task_state::cancelled;
    const reason why = r.stop_reason();
    if (why == reason::none || why == reason::timeout) state = task_state::failed;
    if (why == reason::timeout)
        message = message_or_out_of_memory([&] {
            return "told to stop after its time limit of " + words(*r.of->job->options.timeout) + ": " + message;
        });
    attempt_over(s, run, state, message);
}

// Handles the timer of a run: its timeout, its limit in line, or its next attempt.
void task_scheduler_impl::run_due(active_run& r, std::uint64_t number) noexcept {
    locked_scope s(*this);
    if (number != r.timer_number) return;
    r.timer_number = 0;
    const active_ptr run = r.shared_from_this();
    if (r.at == phase::running) {
        if (r.stop_reason() == reason::none) tally_.attempt_timed_out(); // otherwise, it was told to stop before
        tell_to_stop(s, r, reason::timeout);
    } else if (r.at == phase::queued) {
        pool_.leave_queue(r);
        attempt_over(s, run, task_state::failed, message_or_out_of_memory([&] {
                         return "it waited in line for the pool as long as it may, " +
                                words(options_.pool.when_full.limit());
                     }));
    } else if (r.at == phase::between_attempts) {
        try {
            if (!std::exchange(r.put_off, false)) r.next_attempt();
        } catch (...) {
            r.set_attempt(r.attempt() + 1);
            return attempt_over(s, run, task_state::failed, message_of(std::current_exception()));
        }
        submit(s, run);
    }
}

// Arms a run's timer again after all timers of the wheel were cancelled. On a stopped wheel, a job goes on without its
// timeout, and recover() makes the next attempt.
void task_scheduler_impl::run_dropped(active_run& r, std::uint64_t number) noexcept {
    locked_scope s(*this);
    if (number != r.timer_number) return;
    r.timer_number = 0;
    const error_code refused = arm(r, saturating_add(r.timer_due, -wheel_->now()));
    if (refused && r.at == phase::between_attempts) cut_off(s, r.shared_from_this(), refused);
}

// Tells a run to stop. Returns true if the run is not over and its job does not run: then the caller can end the run.
bool task_scheduler_impl::tell_to_stop(locked_scope& s, active_run& r, reason why) noexcept {
    r.note_reason(why);
    if (r.at != phase::running) return r.at != phase::over;
    s.to_stop.splice(s.to_stop.end(), r.stop);
    return false;
}

void task_scheduler_impl::leave_pool(locked_scope& s, active_run& r) noexcept {
    if (!pool_.leave(r)) return;
    while (const active_ptr next = pool_.next()) {
        disarm(*next);
        submit(s, next);
    }
}

task_scheduler_impl::active_ptr task_scheduler_impl::next_of(calling_thread& here) noexcept {
    const std::lock_guard lock(mutex_);
    return callers_.next(here);
}

error_code task_scheduler_impl::arm(active_run& r, nanoseconds delay) noexcept {
    return arm_at(r, saturating_add(wheel_->now(), delay));
}

error_code task_scheduler_impl::arm_at(active_run& r, nanoseconds due) noexcept {
    r.timer_due = due;
    error_code refused;
    try {
        refused = wheel_->arm(r.timer, r.timer_due, r.weak_from_this(), ++last_timer_, true);
    } catch (...) {
        refused = make_error_code(sys::errc::not_enough_memory);
    }
    if (!refused) r.timer_number = last_timer_;
    return refused;
}

void task_scheduler_impl::disarm(active_run& r) noexcept {
    if (std::exchange(r.timer_number, 0) != 0) wheel_->cancel(r.timer);
}

void task_scheduler_impl::attempt_over(locked_scope& s, const active_ptr& run, task_state state,
                                       const std::string& message) noexcept {
    disarm(*run);
    task_entry& e = *run->of;
    const wall_point now = wall();
    const bool began = run->at == phase::running;
    std::string result = began ? run->take_result() : std::string();
    if (options_.history != 0) {
        try {
            task_attempt made{
                run->scheduled(), began ? run->started : now, now, run->attempt(), state, message, result};
            e.history.reserve(std::min(e.history.size() + 1, options_.history));
            if (e.history.size() == options_.history) e.history.erase(e.history.begin());
            e.history.push_back(std::move(made));
        } catch (...) {
            // There is no memory: the history leaves this attempt out.
        }
    }
    if (!result.empty()) e.result = std::move(result);
    if (state == task_state::failed && !e.gone && !e.cancelled && !stopped_ && retry(s, run, message)) return;
    run_over(s, run, state, message);
}

bool task_scheduler_impl::retry(locked_scope& s, const active_ptr& run, const std::string& message) noexcept {
    if (run->attempt() >= run->of->job->options.attempts) return false;
    run->waited = pause_before_next(*run);
    note(run->of->message, message);
    recorder_.notify(task_event::kind::retrying, run->name(), message, run.get());
    park(s, run, run->waited);
    return true;
}

nanoseconds task_scheduler_impl::pause_before_next(const active_run& r) noexcept {
    const backoff& pauses = r.of->job->options.backoff;
    if (jitter_) {
        try {
            return pauses.next(r.attempt(), r.waited, jitter_);
        } catch (...) {
            // The user's generator has failed: the scheduler's own takes its place.
        }
    }
    return pauses.next(r.attempt(), r.waited, own_random_);
}

// Lets a run wait for its next attempt.
void task_scheduler_impl::park(locked_scope& s, const active_ptr& run, nanoseconds delay) noexcept {
    const error_code refused = wait(*run, delay);
    recorder_.save(*run->of);
    if (refused) cut_off(s, run, refused);
}

// Lets an attempt wait for a storage that has just failed.
void task_scheduler_impl::put_off(locked_scope& s, const active_ptr& run, const std::string& trouble) noexcept {
    disarm(*run);
    note(run->of->message, trouble);
    run->put_off = true;
    if (const error_code refused = wait(*run, options_.storage_pause)) cut_off(s, run, refused);
}

error_code task_scheduler_impl::wait(active_run& r, nanoseconds delay) noexcept {
    r.at = phase::between_attempts;
    r.retry_at = wall_point(saturating_add(wheel_->wall(), delay));
    const error_code refused = arm(r, delay);
    r.due_at = r.timer_due;
    return refused;
}

// Ends a run without a timer for its next attempt. If the wheel was stopped, recover() continues the run.
void task_scheduler_impl::cut_off(locked_scope& s, const active_ptr& run, error_code refused) noexcept {
    if (refused == sys::errc::not_enough_memory)
        return run_over(s, run, task_state::failed, message_or_out_of_memory([&] { return refused.message(); }));
    run->note_reason(reason::stopped);
    run_over(s, run, task_state::cancelled, {});
}

void task_scheduler_impl::run_over(locked_scope& s, const active_ptr& run, task_state state,
                                   const std::string& message) noexcept {
    const entry_ptr entry = run->of;
    task_entry& e = *entry;
    if (run->at == phase::queued) pool_.leave_queue(*run);
    disarm(*run);
    // A run that stop() has stopped stays in the storage: recover() continues it.
    const bool interrupted = run->stop_reason() == reason::stopped && state == task_state::cancelled && !e.gone;
    run->kept = std::exchange(run->at, phase::over);
    if (!interrupted) std::erase(e.runs, run);
    if (--active_ == 0) work_ = {};
    s.drop_run(run);
    tally_.run_ended(state);
    ++(state == task_state::completed ? e.completed : state == task_state::failed ? e.failed : e.cancellations);
    if (state == task_state::failed || !message.empty()) note(e.message, message);
    const auto what = state == task_state::completed ? task_event::kind::completed
                      : state == task_state::failed  ? task_event::kind::failed
                                                     : task_event::kind::cancelled;
    recorder_.notify(what, e.spec.name, message, run.get());
    if (e.gone || interrupted) return;
    e.machine.ended();
    if (!stopped_) begin_waiting(s, entry);
    if (e.ended) return;
    if (e.cancelled) {
        if (e.runs.empty()) finish(s, entry, e.cut_short ? task_state::cancelled : state, message);
    } else if (e.machine.finished()) {
        finish(s, entry, state, message);
    } else {
        recorder_.save(e);
    }
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
