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
        lock_.unlock();
        for (std::stop_source& s : to_stop) s.request_stop();
        // A job that ends may begin the next one, in a section of its own.
        for (const active_ptr& r : to_run) core_.execute(r);
    }

    std::vector<std::stop_source> to_stop;
    std::vector<active_ptr> to_run;
    // Callables and the like that are destroyed without the lock.
    std::vector<std::shared_ptr<void>> to_drop;

private:
    task_core& core_;
    std::unique_lock<std::mutex> lock_;
};

} // namespace cogwheel::detail
