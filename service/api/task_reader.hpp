// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads the JSON of requests. Whatever is wrong becomes a refusal that names the member: 400 if the text is not JSON,
// 413 if something is too long, 422 if a member does not do. Unknown and repeated members are refused, too: a spelling
// mistake must not change what happens. Nesting is limited to max_depth.
#pragma once

#include "api/problem.hpp"

#include <cogwheel/durable/durable_queue.hpp>
#include <cogwheel/durable/durable_task.hpp>

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace cogwheeld {

inline constexpr int max_depth = 16;

/// A task to add. Its body is an encoded http_callback.
struct task_order {
    cogwheel::durable_task task;
    cogwheel::on_duplicate policy = cogwheel::on_duplicate::reject;
};

/// Reads {"id"?, "due" | "delay" | "cron" | "every", "zone"?, "first_after"?, "until"?, "runs"?, "misfire"?, "url",
/// "method"?, "headers"?, "body"?, "max_attempts"?, "policy"?, "traceparent"?}. Without an id it makes one of 128
/// random bits. Errors: refusal.
task_order read_task(std::string_view json);

/// Reads {"tasks": [..], "policy"?}: at most durable_queue::max_batch tasks; a task that does not do has a problem of
/// its own. Errors: refusal: of the whole.
struct task_orders {
    std::vector<std::variant<cogwheel::durable_task, problem>> tasks;
    cogwheel::on_duplicate policy = cogwheel::on_duplicate::reject;
};
task_orders read_bulk(std::string_view json);

/// Some tasks, by the beginning of their ids.
struct selection {
    std::string prefix{};
    std::uint32_t count = 1'000; ///< at most so many at once
    std::string cursor{};
    bool dead = false; ///< else done
};

/// Reads {"prefix", "count"?, "cursor"?}, and with `has_state` also "state": done or dead. Errors: refusal.
selection read_selection(std::string_view json, bool has_state);

/// Reads {"due"} or {"delay"}: what PATCH can change. Errors: refusal.
cogwheel::task_trigger read_change(std::string_view json);

} // namespace cogwheeld
