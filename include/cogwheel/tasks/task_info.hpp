// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a task scheduler reports of its tasks: their state and their history. task_table.hpp shows them as a table.
//
//     for (const cogwheel::task_info& t : tasks.snapshot()) std::cout << t.name << ": " << to_string(t.state) << '\n';
//     std::cout << cogwheel::to_json(tasks.snapshot());
#pragma once

#include <cogwheel/tasks/task.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What task_scheduler::cancel() returns.
enum class task_cancel_result : std::uint8_t {
    not_found, ///< there is no such task, or it has finished
    cancelled, ///< no job of the task runs, and none will; also of a stored task that recover() could not continue
    running    ///< the scheduler has told the job to stop; there will be no further run
};
std::string_view to_string(task_cancel_result) noexcept; ///< the name of the constant

/// What task_scheduler::add_all() returns.
struct task_batch_result {
    std::size_t added = 0; ///< includes tasks that were skipped because of on_duplicate::keep
    error_code refused{};  ///< why the next task was refused; success: none was
};

/// What task_scheduler::recover() returns. The first two lists hold the names of tasks.
struct task_recovery {
    std::size_t tasks = 0;                   ///< the number of tasks that were read and continue, or have just failed
    std::vector<std::string> interrupted{};  ///< the task of each interrupted attempt
    std::vector<std::string> unknown_jobs{}; ///< the job is not defined: the task stays stored and does not run
    std::vector<std::string> warnings{};     ///< what the storage and recover() report, in words
};

/// Counts of the tasks that a scheduler knows. Finished tasks are completed, failed or cancelled, and not forgotten.
struct task_counts {
    std::size_t pending = 0, queued = 0, running = 0, finished = 0; ///< tasks in each state
    std::size_t jobs = 0; ///< runs under way, including those that wait for a thread or for another attempt
};

/// One attempt that has ended. Points are those of the wall clock.
struct task_attempt {
    task_trigger::wall_point scheduled{}; ///< when its run was due
    task_trigger::wall_point started{}, ended{};
    std::uint32_t attempt = 0;
    task_state state = task_state::completed; ///< completed, failed or cancelled
    std::string message{};                    ///< why it did not succeed: the message of the exception or error
    std::string result{};                     ///< what the job gave to task_run::result()
};

/// A task as find() and snapshot() report it.
struct task_info {
    std::string name;
    std::string job;  ///< empty if the caller gave the job to add()
    std::string when; ///< task_trigger::text()
    task_state state = task_state::pending;
    bool paused = false;                                    ///< no run begins until task_scheduler::resume()
    std::optional<task_trigger::wall_point> next{};         ///< when the task is due next
    std::int64_t runs_left = 0;                             ///< `forever` if there is no end
    std::uint32_t attempt = 0;                              ///< the latest attempt of the newest run under way; 0: none
    std::uint64_t completed = 0, failed = 0, cancelled = 0; ///< runs
    /// Missed runs (task_misfire) that did not happen. For a cron expression, it counts at most 10,000 at a time.
    std::uint64_t missed = 0;
    std::uint64_t dropped = 0;           ///< runs that did not happen because another run was under way
    std::string message{};               ///< the message of the last failure or cancellation
    std::string result{};                ///< of the last attempt that had one
    std::string traceparent{};           ///< task::traceparent
    std::vector<task_attempt> history{}; ///< the last attempts, the oldest one first
};

/// Returns tasks as a JSON array of objects (RFC 8259) with all the members above. Dates are as in RFC 3339, in UTC.
/// `next` is null if there is no next run, and `runs_left` if there is no end. Bytes that are not UTF-8 become U+FFFD.
std::string to_json(std::span<const task_info>);

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
