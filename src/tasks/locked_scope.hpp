// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A section under the scheduler's lock. At its end it does what must happen without the lock: it runs jobs on the
// caller's thread, tells jobs to stop, which calls their stop callbacks, and destroys the user's objects.
#pragma once

#include "task_scheduler_impl.hpp"

#include <cogwheel/asio/error.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class task_scheduler_impl::locked_scope {
public:
    explicit locked_scope(task_scheduler_impl& impl) : impl_(impl), lock_(impl.mutex_) { impl.arm_adrift(); }
    locked_scope(const locked_scope&) = delete;
    locked_scope& operator=(const locked_scope&) = delete;
    ~locked_scope() {
        while (const active_ptr run = rejected_.pop()) { // each may begin another run that is rejected
            const std::string why = std::exchange(run->refused, {});
            impl_.attempt_over(*this, run, task_state::failed, why);
        }
        impl_.end_needless_watch();
        calling_thread here;
        const bool runs = impl_.callers_.join(here, to_run);
        lock_.unlock();
        for (std::stop_source& s : to_stop) s.request_stop();
        if (runs) run_all(here);
    }

    /// Destroys a callable or the like after the section, without the lock. Errors: std::bad_alloc.
    void drop(std::shared_ptr<const void> last) { to_drop_.push_back(std::move(last)); }
    void drop_entry(const entry_ptr& entry) noexcept { entries_to_drop_.push(entry); }
    /// Destroys a run after the section. A run that is in a list is dropped when it is taken from there.
    void drop_run(const active_ptr& run) noexcept {
        if (!run->is_listed()) runs_to_drop_.push(run);
    }

    /// Fails the attempt of a run, at the end of the section.
    void reject(const active_ptr& run, std::string why) noexcept {
        run->refused = std::move(why);
        rejected_.push(run);
    }

    std::list<std::stop_source> to_stop;
    owning_list<active_run> to_run;

private:
    static void run_all(calling_thread& here) noexcept {
        const std::shared_ptr<task_scheduler_impl> impl =
            here.queue.front()->impl; // the last job may hold the only reference
        while (const active_ptr run = impl->next_of(here)) impl->execute(run);
    }

    task_scheduler_impl& impl_;
    std::vector<std::shared_ptr<const void>> to_drop_;
    owning_list<active_run> rejected_;
    owning_list<task_entry> entries_to_drop_;
    owning_list<active_run> runs_to_drop_;
    std::unique_lock<std::mutex> lock_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
