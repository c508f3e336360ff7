// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The error category of tasks.
#include "../detail/errc_category.hpp"

#include <cogwheel/tasks/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

const char* words_of_task_errc(int code) noexcept {
    switch (static_cast<task_errc>(code)) {
    case task_errc::bad_period:
        return "the period must be above zero, and several runs need one";
    case task_errc::bad_times:
        return "the number of runs must be at least 1";
    case task_errc::no_name:
        return "a task needs a name";
    case task_errc::unknown_job:
        return "no job of this name was defined; define() it first";
    case task_errc::never:
        return "the schedule has no run in the future";
    case task_errc::queue_full:
        return "the pool's queue was full, and its policy is to reject";
    case task_errc::missed:
        return "the run was missed, and its misfire policy is to skip";
    case task_errc::interrupted:
        return "its process or its scheduler ended while it ran";
    case task_errc::bad_jitter:
        return "the jitter must be zero or more, and below the period";
    case task_errc::bad_trace:
        return "the traceparent of a task must be empty, or as \"00-<32 hex digits>-<16 hex digits>-<2 hex digits>\" "
               "in lower case";
    }
    return nullptr;
}

} // namespace

const detail::sys::error_category& task_category() noexcept {
    static const detail::errc_category category("cogwheel.tasks", words_of_task_errc);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
