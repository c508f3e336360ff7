// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who wants to be told what happens to tasks: logs, metrics, stores.
#pragma once

#include <cogwheel/schedule/task_trigger.hpp>

namespace cogwheel {

struct task_event {
    enum class kind : std::uint8_t {
        added,
        started,     ///< an attempt
        retrying,    ///< it failed; there will be another one
        completed,   ///< a run
        failed,      ///< a run
        cancelled,   ///< a run
        finished,    ///< the task: there is no further run
        interrupted, ///< recover() found that an attempt was running when the process ended; before any job begins
        unrecorded   ///< the storage failed: what it holds is older than what is
    };

    kind what;
    const std::string& task;
    std::uint32_t attempt; ///< 0: no attempt had begun
    task_trigger::wall_point at;
    const std::string& message; ///< why, if it went wrong
};

/// Called under the scheduler's lock, in the order in which things happen, on whichever thread they do: must be quick, and must not call
/// the scheduler, nor throw. Lifetime: outlives the scheduler.
class task_observer {
public:
    virtual ~task_observer() = default;
    virtual void on_event(const task_event&) noexcept = 0;
};

} // namespace cogwheel
