// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Shows tasks as a table for people. Needs fmt: link fmt::fmt as well as cogwheel::tasks.
//
//     fmt::print("{}", cogwheel::task_table(tasks.snapshot(), now));
//
//     NAME    WHEN        STATE    NEXT         RUNS  FAILED  LEFT  LAST TROUBLE
//     backup  @daily UTC  pending  in 3h20m14s    12       1  -     disk full
#pragma once

#include <cogwheel/detail/visible_text.hpp>
#include <cogwheel/tasks/detail/task_words.hpp>
#include <cogwheel/tasks/task_info.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns a heading and one line for each task. Control characters in names and messages become spaces. Bytes that are
/// not UTF-8 become question marks. A column is as wide as its widest text on a terminal. RUNS counts completed runs.
/// Parameters: the column NEXT counts from `now`, as in "in 5s".
/// Complexity: O(tasks). Errors: std::bad_alloc.
inline std::string task_table(std::span<const task_info> tasks, task_trigger::wall_point now) {
    constexpr std::size_t columns = 8;
    using row = std::array<std::string, columns>;
    const auto whole = [](std::chrono::nanoseconds d) {
        return detail::words(std::chrono::ceil<std::chrono::seconds>(d));
    };
    std::vector<row> rows{{"NAME", "WHEN", "STATE", "NEXT", "RUNS", "FAILED", "LEFT", "LAST TROUBLE"}};
    for (const task_info& t : tasks) {
        std::string next = "-";
        if (t.next) next = *t.next <= now ? "now" : "in " + whole(*t.next - now);
        std::string left = t.runs_left == forever ? "-" : fmt::format("{}", t.runs_left);
        std::string state(t.paused && t.state == task_state::pending ? "paused" : to_string(t.state));
        if (t.attempt > 1) state += fmt::format(" ({})", t.attempt);
        rows.push_back({t.name, t.when, state, next, fmt::format("{}", t.completed), fmt::format("{}", t.failed), left,
                        t.message});
    }
    std::array<std::size_t, columns> width{};
    for (row& r : rows) {
        for (std::size_t i = 0; i < columns; ++i) {
            r[i] = detail::visible_text(r[i]);
            width[i] = std::max(width[i], detail::text_width(r[i]));
        }
    }
    std::string table;
    for (const row& r : rows) {
        std::string line;
        for (std::size_t i = 0; i < columns; ++i) {
            const bool number = i == 4 || i == 5;
            const std::string padding(width[i] - detail::text_width(r[i]), ' ');
            line += number ? padding + r[i] + "  " : r[i] + padding + "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        table += line + '\n';
    }
    return table;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
