// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where jobs run: the scheduler's own threads, and threads that found the pool full. Also the line of runs that wait
// for the pool.
#pragma once

#include "task_entry.hpp"

#include COGWHEEL_ASIO_HEADER(thread_pool.hpp)

#include <optional>
#include <thread>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The scheduler's own threads and the line of waiting runs.
/// Thread safety: under the scheduler's lock, except join().
class task_pool {
public:
    /// Starts the threads, unless the options have an executor. Errors: std::system_error.
    explicit task_pool(const task_scheduler_options& options);

    bool has_room() const noexcept { return busy_ < limit_; }
    asio::any_io_executor executor() { return threads_->get_executor(); }

    /// Posts f, which runs the job. Errors: std::bad_alloc; nothing has changed then.
    template <class F>
    void post(active_run& run, F f) {
        asio::post(*threads_, std::move(f));
        run.in_pool = true;
        ++busy_;
    }
    /// Frees the run's place in the pool. Returns false if the run was not in the pool.
    bool leave(active_run& run) noexcept {
        if (!std::exchange(run.in_pool, false)) return false;
        --busy_;
        return true;
    }

    void enqueue(const std::shared_ptr<active_run>& run) noexcept {
        run->at = active_run::phase::queued;
        queue_.push(run);
    }
    void leave_queue(active_run& run) noexcept {
        queue_.take(run);
        run.at = active_run::phase::on_its_way;
    }
    /// Takes the run that waits longest from the line. Returns nullptr if no run waits, or the pool has no room.
    std::shared_ptr<active_run> next() noexcept;

    /// Waits for the threads.
    void join() {
        if (threads_) threads_->join();
    }

private:
    std::optional<asio::thread_pool> threads_;
    std::size_t limit_ = 0;
    std::size_t busy_ = 0;
    owning_list<active_run> queue_;
};

/// A thread that found the pool full and runs the jobs itself. The object is on the stack of that thread.
struct calling_thread {
    std::thread::id id = std::this_thread::get_id();
    owning_list<active_run> queue;
    calling_thread* below = nullptr;
};

/// All calling threads. A job that ends may begin the next one in a locked_scope inside the first. The inner scope
/// leaves that job to the outer one; otherwise the stack would grow with each job.
/// Thread safety: under the scheduler's lock.
class calling_threads {
public:
    /// Queues runs for the present thread. Returns true if the caller must run them, one by one from next(). Returns
    /// false if an outer scope of this thread runs them, or if there are none.
    bool join(calling_thread& here, owning_list<active_run>& runs) noexcept;
    /// Returns the next run of this thread. Returns nullptr, and removes the thread, if none is left.
    std::shared_ptr<active_run> next(calling_thread& here) noexcept;

private:
    calling_thread* top_ = nullptr;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
