// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A task record as a line of text, which people can read: for a storage of your own, such as a database. A tab
// separates the fields, in this order:
//
//     name, job, body
//     once | date | periodic | cron, first delay (of a date: the date), period, runs,
//         expression, zone, vixie | skip | follow_clock
//     fire_once | skip | catch_up, most
//     forbid | allow | replace
//     runs left, next (- if there is none)
//     number of runs; of each: scheduled, attempt, retry at (- if there is none)
//     then, of tasks that need one: 1 if paused, most at once, jitter, until (- if there is none), result
//     then, of tasks that have one: traceparent
//
// Points and durations are nanoseconds. In strings, control characters and \ are written as \t, \n, \r, \0, \\ or \x1b.
// A version adds fields only at the end, and only to tasks that need them. An earlier version refuses such a task, and
// a task_journal of that version keeps its line.
#pragma once

#include <cogwheel/tasks/task_storage.hpp>

#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns the record as one line, without a newline. Complexity: O(size). Errors: std::bad_alloc.
std::string to_text(const task_record&);

/// Parses what to_text() returns. Errors: std::invalid_argument that names the field; the exceptions of zone_info and
/// cron_expression; std::bad_alloc.
task_record task_record_from(std::string_view text);

/// Parses the name only, also if the other fields cannot be read. Errors: std::invalid_argument.
std::string task_name_from(std::string_view text);

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
