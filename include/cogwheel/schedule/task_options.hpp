// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a task scheduler runs jobs, and what it remembers.
#pragma once

#include <cogwheel/schedule/task_observer.hpp>
#include <cogwheel/schedule/task_storage.hpp>

namespace cogwheel {

/// What becomes of a run that comes due while the pool's threads are busy and its queue is full. None blocks the wheel's thread.
class full_policy {
public:
    enum class kind : std::uint8_t { wait, wait_for, reject, run_on_caller };

    /// It waits in line, with no limit.
    static constexpr full_policy wait() noexcept { return {kind::wait, {}}; }
    /// It waits in line, and is rejected after `limit`.
    static constexpr full_policy wait_for(std::chrono::nanoseconds limit) noexcept { return {kind::wait_for, limit}; }
    /// The attempt has failed: schedule_errc::queue_full.
    static constexpr full_policy reject() noexcept { return {kind::reject, {}}; }
    /// The thread that found it full runs it: that of the wheel, where it came due, and everything else there waits for it.
    static constexpr full_policy run_on_caller() noexcept { return {kind::run_on_caller, {}}; }

    constexpr kind what() const noexcept { return kind_; }
    constexpr std::chrono::nanoseconds limit() const noexcept { return limit_; }

private:
    constexpr full_policy(kind k, std::chrono::nanoseconds limit) noexcept : kind_(k), limit_(limit) {}

    kind kind_;
    std::chrono::nanoseconds limit_;
};

/// Of an asio::thread_pool that belongs to the scheduler.
struct pool_options {
    std::size_t threads = 0;  ///< 0: as many as the machine runs at once
    std::size_t queue = 1024; ///< jobs beyond those that run; a coroutine counts until it has ended
    full_policy when_full = full_policy::wait();
};

enum class interrupted_runs {
    again, ///< the attempt is made again
    fail   ///< it has failed: schedule_errc::interrupted; there may be further attempts
};

struct task_scheduler_options {
    /// Jobs run there, without a limit; empty: in a pool of the scheduler's own. Lifetime: its context outlives the scheduler, and runs what
    /// it is given: a job that is dropped counts as running for ever.
    asio::any_io_executor executor{};
    pool_options pool{};

    /// A run that comes due later than this is missed. Zero or more. What waits for a thread is not.
    std::chrono::nanoseconds misfire_grace = std::chrono::seconds(1);

    /// The clock on the wall is looked at again at least so often, see calendar_options: within it a clock that was set is noticed, forward
    /// or back. Above zero.
    std::chrono::nanoseconds recheck = std::chrono::minutes(1);

    /// Attempts that each task remembers.
    std::size_t history = 16;
    /// Tasks that have finished and can still be asked for. The oldest are forgotten.
    std::size_t finished = 1000;

    /// Tasks whose job was defined by name are written down there. Lifetime: outlives the scheduler.
    task_storage* storage = nullptr;
    interrupted_runs interrupted = interrupted_runs::again;

    task_observer* observer = nullptr;

    /// For the jitter of retries; a generator of its own, if it is not said. Used under the scheduler's lock.
    random_ref random{};

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel
