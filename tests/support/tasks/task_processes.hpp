// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A process with tasks that dies, and the next one that goes on with what was written down.
#pragma once

#include "support/tasks/task_rig.hpp"

#include <stdexcept>

namespace cogwheel_tests {

/// What a process leaves behind that lives for `life` after its tasks were added.
template <class Add>
cogwheel::memory_storage remains(std::chrono::nanoseconds life, Add add) {
    cogwheel::memory_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    tasks->define("long", tasks.lasting(std::chrono::seconds(10)));
    tasks->define("fails", [] { throw std::runtime_error("again"); },
                  {.attempts = 3, .backoff = cogwheel::backoff::constant(std::chrono::seconds(5))});
    add(tasks);
    tasks.pass(life);
    return cogwheel::memory_storage(storage); // as it is now: the rig's end concerns nobody
}

/// The next one, that begins `gap` later.
struct next_process {
    cogwheel::memory_storage storage;
    task_rig tasks;
    cogwheel::task_recovery found;

    next_process(cogwheel::memory_storage remained, std::chrono::nanoseconds gap,
                 cogwheel::task_scheduler_options options = {})
        : storage(std::move(remained)), tasks((options.storage = &storage, std::move(options))) {
        task_wall::present += gap; // the rig has set it to noon
        tasks->define("note", tasks.note());
        tasks->define("long", tasks.lasting(std::chrono::seconds(10)));
        tasks->define("fails", tasks.note(),
                      {.attempts = 3, .backoff = cogwheel::backoff::constant(std::chrono::seconds(5))});
        found = tasks->recover();
    }
};

} // namespace cogwheel_tests
