// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Dates and durations as texts.
#pragma once

#include <cogwheel/tasks/task_trigger.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace cogwheeld {

using wall_point = cogwheel::task_trigger::wall_point;

/// Reads a date as in RFC 3339, 5.6, such as "2026-11-27T10:00:00.25+01:00". A second of 60 counts as the one after it.
/// Errors: std::invalid_argument that says what is wrong. Dates before 1677 become the earliest wall_point; those after
/// durable_task::max_date are refused.
wall_point read_date(std::string_view text);

/// Reads a sum of numbers with units, such as "1h30m", "1.5s" or "500ms"; the units are ms, s, m, h and d. Rounds up to
/// nanoseconds. Errors: std::invalid_argument: the same, or it is longer than durable_task::max_delay.
std::chrono::nanoseconds read_duration(std::string_view text);

/// Returns "2026-11-27T10:00:00.250Z": the inverse of read_date(), in whole milliseconds.
std::string date_text(wall_point);

} // namespace cogwheeld
