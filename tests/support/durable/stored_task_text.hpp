// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// All that a store knows of a task, as one line: what two stores know can be compared.
#pragma once

#include "src/durable/task_store.hpp"

#include <fmt/format.h>

namespace cogwheel_tests {

inline std::string stored_task_text(const cogwheel::detail::stored_task& t) {
    std::string text =
        fmt::format("{:?} gen {} state {} {}{}{} attempt {}/{} due {} runs {} body {:?} message {:?}", t.id,
                    t.generation, static_cast<int>(t.state), t.recurring ? "R" : "", t.cancelled ? "C" : "",
                    t.paused ? "P" : "", t.attempt, t.max_attempts, t.due, t.runs_left, t.envelope, t.message);
    for (const auto& a : t.history)
        text += fmt::format(" [{} {}{} {:?}]", a.attempt, a.ended_ms, a.lease_ran_out ? "L" : "", a.message);
    return text;
}

} // namespace cogwheel_tests
