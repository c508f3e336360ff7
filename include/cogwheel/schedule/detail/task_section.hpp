// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A stretch under the scheduler's lock, and what it leaves to be done without: jobs that the caller runs, and telling jobs to stop, which
// calls whatever they have registered.
#pragma once

#include <cogwheel/asio/error.hpp>
#include <cogwheel/schedule/detail/task_core.hpp>

namespace cogwheel::detail {

class task_core::section {
public:
    explicit section(task_core& core) : core_(core), lock_(core.mutex_) {}
    section(const section&) = delete;
    section& operator=(const section&) = delete;
    ~section() {
        while (!rejected.empty()) { // each may begin another one that is rejected
            const auto [run, why] = std::move(rejected.front());
            rejected.pop_front();
            core_.attempt_over(*this, run, task_state::failed, why);
        }
        caller here;
        const bool runs = core_.join_callers(here, to_run);
        lock_.unlock();
        for (std::stop_source& s : to_stop) s.request_stop();
        if (runs) run_all(here);
    }

    /// Callables and the like are destroyed without the lock.
    void drop(std::shared_ptr<const void> last) { to_drop_.push_back(std::move(last)); }

    std::vector<std::stop_source> to_stop;
    std::list<active_ptr> to_run;
    std::list<std::pair<active_ptr, std::string>> rejected;

private:
    static void run_all(caller& here) {
        const std::shared_ptr<task_core> core = here.queue.front()->core; // its last job may be all that holds it
        while (const active_ptr run = core->next_of(here)) core->execute(run);
    }

    task_core& core_;
    std::vector<std::shared_ptr<const void>> to_drop_;
    std::unique_lock<std::mutex> lock_;
};

} // namespace cogwheel::detail
