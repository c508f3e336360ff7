// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a task scheduler answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

namespace cogwheel {

enum class task_cancel_result : std::uint8_t {
    not_found, ///< no such task, or it had finished
    cancelled, ///< no job of it runs, and none will
    running    ///< its job has been told to stop; there will be no further run
};

struct task_batch_result {
    std::size_t added = 0;
    std::error_code refused{}; ///< why the next one was not; success: all were added
};

struct task_recovery {
    std::size_t tasks = 0;                   ///< that go on
    std::vector<std::string> interrupted{};  ///< their job was running when the process ended
    std::vector<std::string> unknown_jobs{}; ///< no such job is defined: they stay in the storage, and do not run
    std::vector<std::string> warnings{};     ///< of the storage, in words
};

/// Of all tasks there are.
struct task_counts {
    std::size_t pending = 0, queued = 0, running = 0, finished = 0; ///< tasks
    std::size_t jobs = 0; ///< under way: those that wait for a thread, and between attempts, too
};

} // namespace cogwheel
