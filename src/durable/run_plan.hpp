// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Decides which runs of a recurring task begin, and when it is due next. It has no clock and does no I/O.
#pragma once

#include "task_envelope.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The most runs that one begin makes, also with task_misfire::catch_up of more.
inline constexpr std::uint32_t most_occurrences = 100;

struct run_plan {
    std::vector<std::int64_t> occurrences{}; // due times in ms, ascending
    std::int64_t next_due = 0;               // ms; 0: there is no further run
    std::int64_t runs_left = 0;              // after these
    std::uint64_t missed = 0;                // runs that do not happen; at most 1,000 are counted
};

/// Returns the due time in ms of a point of the grid, with the jitter of this task. The jitter depends on the id and
/// the point only: so all workers compute the same, and a run keeps its id.
std::int64_t due_of(const task_trigger&, std::chrono::nanoseconds point, std::string_view id) noexcept;

/// Returns the first point of a task that is added at `now`, or nothing if it has no run.
std::optional<std::chrono::nanoseconds> first_point(const task_trigger&, std::chrono::nanoseconds now);

/// Plans the runs of a task that is due. If the due time is no point of its cron expression any more, because the rules
/// of its zone have changed since it was stored, the nearest point is meant; then there may be no run yet. Parameters:
/// `due`: that of the record, ms. `now`: the server's time, ms. `grace`: a run is missed if it is later than this, ms.
run_plan plan_runs(const recurring_part&, std::string_view id, std::int64_t due, std::int64_t now, std::int64_t grace,
                   std::int64_t runs_left);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
