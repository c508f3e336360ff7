// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The part of a stored task that the backends do not read: its body, its trace, and of a recurring task its trigger.
//
//     1 byte     0x10 + flags (1: trace, 2: recurring)
//     trace      1 byte length, text
//     recurring  8 bytes first point of the grid (ns since 1970), 4 bytes length, task record as text
//     the rest   the body
//
// Numbers are little endian.
#pragma once

#include <cogwheel/durable/durable_task.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct recurring_part {
    task_trigger trigger{};
    task_misfire misfire = task_misfire::fire_once();
    std::chrono::nanoseconds first{}; // a point of the trigger's grid
};

struct task_envelope {
    std::optional<recurring_part> recurring{};
    std::string traceparent{};
    std::string body{};
};

/// Complexity: O(body). Errors: std::bad_alloc.
std::string encode(const durable_task&, std::optional<std::chrono::nanoseconds> first_of_recurring);

/// Returns nothing if the text is no envelope of this version, or its trigger cannot be read. Without `trigger`, does
/// not read that, and leaves `recurring` empty. Errors: std::bad_alloc.
std::optional<task_envelope> decode_envelope(std::string_view, bool trigger = true);

/// Returns the fresh envelope of a recurring task with the first point of the stored one, if both have the same trigger
/// and misfire policy, byte by byte. Else nothing. Errors: std::bad_alloc.
std::optional<std::string> continued(std::string_view stored, std::string_view fresh);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
