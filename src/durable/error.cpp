// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/errc_category.hpp"

#include <cogwheel/durable/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

const char* words_of_durable(int code) noexcept {
    switch (static_cast<durable_errc>(code)) {
    case durable_errc::durability_unknown:
        return "the replicas have not confirmed the change in time: it may be lost";
    case durable_errc::durability_refused:
        return "the server cannot give the durability that the options ask for";
    case durable_errc::wrong_server:
        return "this server cannot hold durable tasks";
    case durable_errc::wrong_type:
        return "a key of the queue holds a value of another type";
    case durable_errc::access_denied:
        return "the server refuses the user, the password or the command";
    case durable_errc::server_full:
        return "the server is out of memory";
    case durable_errc::server_busy:
        return "the server is not ready: try again";
    case durable_errc::server_error:
        return "the server answers an error";
    case durable_errc::bad_reply:
        return "the server's answer is not as the protocol says";
    case durable_errc::disconnected:
        return "the connection broke before the answer";
    case durable_errc::not_connected:
        return "there is no connection to the server";
    case durable_errc::bad_id:
        return "the id of a task is empty or too long";
    case durable_errc::bad_body:
        return "the body of a task is too long";
    case durable_errc::bad_due:
        return "the due date of a task is out of range";
    case durable_errc::bad_attempts:
        return "the number of attempts of a task is out of range";
    case durable_errc::bad_trace:
        return "the traceparent of a task is not one";
    case durable_errc::too_many_tasks:
        return "too many tasks in one call";
    case durable_errc::bad_record:
        return "a stored task cannot be read";
    case durable_errc::no_such_task:
        return "there is no such task";
    case durable_errc::running:
        return "an attempt of the task has begun";
    case durable_errc::stale:
        return "the task has a later attempt, or was cancelled or replaced";
    case durable_errc::bad_cursor:
        return "the cursor is not one that a page had";
    }
    return nullptr;
}

} // namespace

const detail::sys::error_category& durable_category() noexcept {
    static const detail::errc_category category("cogwheel.durable", words_of_durable);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
