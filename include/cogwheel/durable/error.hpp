// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of durable/, in addition to those of Asio, of the wheel (asio/error.hpp), of schedules
// (schedule/error.hpp) and of the system.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

enum class durable_errc {
    durability_unknown = 1, ///< the server has the change, but the replicas have not confirmed it in time
    durability_refused,     ///< the server cannot give the durability that the options ask for
    wrong_server,           ///< its version, policy or role does not do; the log says which
    wrong_type,             ///< a key of the queue holds a value of another type
    access_denied,          ///< wrong user or password, or the user may not run the command (ACL)
    server_full,            ///< the server is out of memory: it refuses new tasks, and runs all that it has
    server_busy,            ///< the server loads its data, fails over, or moves the shard; try again
    server_error,           ///< any other error reply; redis_reply::text() has its words
    bad_reply,              ///< the server answers what its protocol does not allow
    disconnected,           ///< the connection broke before the answer: the command may have been done
    not_connected,          ///< there is no connection: the command was not sent
    bad_id,                 ///< durable_task::id is empty or too long
    bad_body,               ///< durable_task::body is too long
    bad_due,                ///< the due date or the delay is too far away
    bad_attempts,           ///< durable_task::max_attempts is zero or too large
    bad_trace,              ///< durable_task::traceparent is not one
    too_many_tasks,         ///< more tasks in one call than durable_queue::max_batch
    bad_record,             ///< a stored task cannot be read: another version wrote it, or it is damaged
    no_such_task,
    running,    ///< an attempt of the task has begun
    stale,      ///< a later attempt has begun, or the task was cancelled or replaced
    bad_cursor, ///< the cursor of a page is not one that a page had
};

/// Returns the category "cogwheel.durable". Thread safety: any thread.
const detail::sys::error_category& durable_category() noexcept;

inline error_code make_error_code(durable_errc e) noexcept { return {static_cast<int>(e), durable_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::durable_errc> : std::true_type {};
