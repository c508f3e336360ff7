// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A stretch under the scheduler's lock, and what it leaves to be done without: jobs that the caller runs, telling jobs to stop, which
// calls whatever they have registered, and destroying what is the user's.
#pragma once

#include <cogwheel/asio/error.hpp>
#include <cogwheel/schedule/detail/task_core.hpp>

namespace cogwheel::detail {

class task_core::section {
public:
    explicit section(task_core& core) : core_(core), lock_(core.mutex_) { core.arm_adrift(); }
    section(const section&) = delete;
    section& operator=(const section&) = delete;
    ~section() {
        while (const active_ptr run = rejected_.pop()) { // each may begin another one that is rejected
            const std::string why = std::exchange(run->refused, {});
            core_.attempt_over(*this, run, task_state::failed, why);
        }
        caller here;
        const bool runs = core_.join_callers(here, to_run);
        lock_.unlock();
        for (std::stop_source& s : to_stop) s.request_stop();
        if (runs) run_all(here);
    }

    /// Callables and the like are destroyed without the lock. Errors: std::bad_alloc.
    void drop(std::shared_ptr<const void> last) { to_drop_.push_back(std::move(last)); }
    void drop_entry(const entry_ptr& entry) noexcept { entries_to_drop_.push(entry); }
    /// One that still is in a row is dropped by who takes it from there.
    void drop_run(const active_ptr& run) noexcept {
        if (!run->in_a_row()) runs_to_drop_.push(run);
    }

    /// Its attempt has failed, at the end of the section.
    void reject(const active_ptr& run, std::string why) noexcept {
        run->refused = std::move(why);
        rejected_.push(run);
    }

    std::list<std::stop_source> to_stop;
    row<active_run> to_run;

private:
    static void run_all(caller& here) noexcept {
        const std::shared_ptr<task_core> core = here.queue.front()->core; // its last job may be all that holds it
        while (const active_ptr run = core->next_of(here)) core->execute(run);
    }

    task_core& core_;
    std::vector<std::shared_ptr<const void>> to_drop_;
    row<active_run> rejected_;
    row<task_entry> entries_to_drop_;
    row<active_run> runs_to_drop_;
    std::unique_lock<std::mutex> lock_;
};

} // namespace cogwheel::detail
