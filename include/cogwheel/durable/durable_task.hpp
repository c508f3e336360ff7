// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The description of a durable task: its id, its trigger, its body and its policies; and what a queue reports of it.
//
//     {.id = "order-17", .when = task_trigger::once(30min), .body = "17"}
//     {.id = "report", .when = task_trigger::cron("0 7 * * MON-FRI", zone_info("Europe/Berlin"))}
//
// A task whose trigger has more than one run makes a task of its own for each run, its occurrence. The id of an
// occurrence is "<id>@<due time in milliseconds since 1970>". So a receiver sees the same id each time a run is tried.
#pragma once

#include <cogwheel/durable/error.hpp>
#include <cogwheel/tasks/task_info.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A task, as the caller gives it to durable_queue::schedule().
struct durable_task {
    static constexpr std::size_t max_id = 512;                      ///< bytes
    static constexpr std::size_t max_recurring_id = max_id - 14;    ///< so that "<id>@<milliseconds>" is an id
    static constexpr std::size_t max_body = std::size_t{512} << 10; ///< bytes
    static constexpr std::uint32_t max_max_attempts = 65'535;
    static constexpr std::chrono::hours max_delay{24 * 73'000}; ///< about 200 years
    static constexpr task_trigger::wall_point max_date{std::chrono::nanoseconds::max() -
                                                       std::chrono::hours(24)}; ///< in 2262

    /// Unique in the queue while the task is stored. 1 to max_id bytes of any value; of a recurring task 1 to
    /// max_recurring_id.
    std::string id;

    /// When the task is due. The clock of all triggers is that of the server, in milliseconds, rounded up. A point in
    /// the past is due at once. A date beyond max_date, a delay beyond max_delay, and a period below 1 ms are refused.
    task_trigger when{};

    /// Data for the handler, in any format. At most max_body bytes.
    std::string body{};

    /// The largest number of attempts. 1 to max_max_attempts. After the last one that fails, the task is dead.
    std::uint32_t max_attempts = 10;

    /// What happens to runs of a recurring task that no worker could begin in time.
    task_misfire misfire = task_misfire::fire_once();

    /// The caller's trace (W3C Trace Context, "traceparent"), which the callback passes on. Empty: none.
    std::string traceparent{};

    /// Checks the task. Returns durable_errc::bad_id, bad_body, bad_attempts, bad_trace, what task_trigger::check()
    /// returns, or success.
    error_code check() const noexcept;
};

/// What schedule() answers. An error code says if a task was refused.
struct durable_receipt {
    std::uint64_t generation = 0; ///< of the task that is stored now; a later task of the same id has a larger one
    task_trigger::wall_point due{};
    bool existed = false; ///< the stored task is an earlier one: keep, or a replacement by the same
};

/// One answer of a bulk call.
struct durable_added {
    error_code error{};
    durable_receipt receipt{};
};

enum class durable_state : std::uint8_t {
    waiting, ///< for its due time, or for its next attempt
    running, ///< an attempt has begun, and its lease has not run out
    done,    ///< kept for durable_options::retention
    dead,    ///< all attempts failed, or the handler gave up; kept until redrive() or purge()
};

std::string_view to_string(durable_state) noexcept;

/// An attempt that failed.
struct durable_attempt {
    std::uint32_t attempt = 0; ///< its number, from 1
    task_trigger::wall_point ended{};
    bool lease_ran_out = false; ///< its worker died or was cut off
    std::string message;        ///< the first 200 bytes
};

/// A task as find() and list() report it.
struct durable_info {
    std::string id;
    durable_state state = durable_state::waiting;
    std::uint64_t generation = 0;
    task_trigger::wall_point due{}; ///< of the next attempt; of a running, done or dead one: of the last
    std::uint32_t attempt = 0;      ///< attempts begun
    std::uint32_t max_attempts = 0;
    std::int64_t runs_left = 1;             ///< of a recurring task; `forever` if there is no end
    std::string when;                       ///< task_trigger::text() of a recurring task; else empty
    std::string body;                       ///< of a done task: empty
    std::string result;                     ///< of a done task
    std::string message;                    ///< why the last attempt failed, if one did
    std::string traceparent{};              ///< durable_task::traceparent; of a done task: empty
    bool paused = false;                    ///< durable_queue::pause() of this task
    std::vector<durable_attempt> history{}; ///< attempts that failed, the oldest first; at most the last ten
};

/// What cancel() answers. `running`: no further attempt begins; the running one is told to stop.
using durable_cancel_result = task_cancel_result;

/// One page of list() or dead().
struct durable_page {
    std::vector<durable_info> tasks;
    std::string cursor; ///< for the next page; empty: that was the last one
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
