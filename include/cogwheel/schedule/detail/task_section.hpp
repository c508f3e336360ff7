// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A stretch under the scheduler's lock, and what it leaves to be done without: jobs that the caller runs, and telling jobs to stop, which
// calls whatever they have registered.
#pragma once

#include <cogwheel/asio/error.hpp>
#include <cogwheel/schedule/detail/task_core.hpp>

#include <deque>

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
        lock_.unlock();
        for (std::stop_source& s : to_stop) s.request_stop();
        run_here();
    }

    /// Callables and the like are destroyed without the lock.
    void drop(std::shared_ptr<const void> last) { to_drop_.push_back(std::move(last)); }

    std::vector<std::stop_source> to_stop;
    std::vector<active_ptr> to_run;
    std::list<std::pair<active_ptr, std::string>> rejected;

private:
    // A job that ends may begin the next one, in a section of its own, within this: that one leaves it to us.
    void run_here() {
        static thread_local std::deque<active_ptr>* outermost = nullptr;
        if (outermost != nullptr) {
            outermost->insert(outermost->end(), to_run.begin(), to_run.end());
        } else if (!to_run.empty()) {
            std::deque<active_ptr> queue(to_run.begin(), to_run.end());
            outermost = &queue;
            for (; !queue.empty(); queue.pop_front()) {
                const active_ptr run = queue.front();
                run->core->execute(run);
            }
            outermost = nullptr;
        }
    }

    task_core& core_;
    std::vector<std::shared_ptr<const void>> to_drop_;
    std::unique_lock<std::mutex> lock_;
};

} // namespace cogwheel::detail
