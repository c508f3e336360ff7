// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A task record as a line of text, for people to read and for a journal to keep: fields with a tab between each two, in this order.
//
//     name, job, body
//     once | date | periodic | cron, first delay (of a date: the date), period, runs, expression, zone, vixie | skip | follow_clock
//     fire_once | skip | catch_up, most
//     forbid | allow | replace
//     runs left, next (- if there is none)
//     number of runs under way; of each: scheduled, attempt, retry at (- if there is none)
//
// Points and durations are nanoseconds; strings are escaped (text_fields.hpp). No field is added without a new number in a journal's
// first line.
#pragma once

#include <cogwheel/schedule/task_record.hpp>

#include <string>
#include <string_view>

namespace cogwheel::detail {

std::string to_text(const task_record&);

/// The opposite. Errors: std::invalid_argument that names the field, or what time_zone and cron_expression throw.
task_record task_record_from(std::string_view text);

/// The name alone, also of a text whose other fields mean nothing here. Errors: std::invalid_argument.
std::string task_name_from(std::string_view text);

} // namespace cogwheel::detail
