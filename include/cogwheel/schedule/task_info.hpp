// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What can be known of a task: now, and of its past. As a table: task_table.hpp.
#pragma once

#include <cogwheel/schedule/task.hpp>

#include <span>
#include <vector>

namespace cogwheel {

/// One attempt that has ended. Points are of the clock on the wall.
struct task_attempt {
    task_trigger::wall_point scheduled{}; ///< when its run was due
    task_trigger::wall_point started{}, ended{};
    std::uint32_t attempt = 0;
    task_state state = task_state::completed; ///< completed, failed or cancelled
    std::string message{};                    ///< of the exception, or the error
};

struct task_info {
    std::string name;
    std::string job;  ///< empty: handed over with the task
    std::string when; ///< task_trigger::text()
    task_state state = task_state::pending;
    std::optional<task_trigger::wall_point> next{};         ///< when it is due next
    std::int64_t runs_left = 0;                             ///< task_trigger::for_ever: no end
    std::uint32_t attempt = 0;                              ///< of the run under way, the last one begun; 0: none
    std::uint64_t completed = 0, failed = 0, cancelled = 0; ///< runs
    std::uint64_t missed =
        0; ///< runs that did not happen: too late (of a cron expression, counted up to 10,000 at a time)
    std::uint64_t dropped = 0;           ///< the same: another one was under way
    std::string message{};               ///< of the last failure
    std::vector<task_attempt> history{}; ///< the last ones, oldest first
};

/// A JSON array of objects (RFC 8259): all that is above, dates as RFC 3339, no end as null. Bytes that are not UTF-8 become U+FFFD.
std::string to_json(std::span<const task_info>);

} // namespace cogwheel
