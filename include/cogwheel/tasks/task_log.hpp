// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Observers for logs and traces.
//
//     cogwheel::task_log log(std::clog); // {"at":"2026-11-22T07:00:00Z","event":"started","task":"report","run":1, ...
//     cogwheel::task_scheduler tasks(wheel, {.observer = &log});
//
//     cogwheel::task_spans spans([&](const cogwheel::task_span& s) { // a span for each execution
//         tracer->StartSpan(s.task, {{"run", s.run}, {"attempt", s.attempt}}, starting_at(s.started, s.traceparent))
//             ->End(s.ended);
//     });
#pragma once

#include <cogwheel/tasks/task.hpp>
#include <cogwheel/tasks/task_options.hpp>

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns an event as a JSON object without a line end: at (RFC 3339, UTC), event, task, run, attempt, message, and
/// traceparent if there is one.
/// Errors: std::bad_alloc.
std::string to_json(const task_event&);

/// Writes each event as a line of JSON. Use one for each scheduler, and a stream that nothing else writes to meanwhile.
class task_log final : public task_observer {
public:
    /// Lifetime: the stream must outlive the log.
    explicit task_log(std::ostream& to) noexcept : to_(&to) {}

    /// Writes and flushes the line. An event for which there is no memory is left out; a stream that fails keeps its
    /// error.
    void on_event(const task_event&) noexcept override;

private:
    std::ostream* to_;
};

/// One execution of a job: an attempt, from its start to its end. Lifetime: the references are valid during the call.
struct task_span {
    const std::string& task;
    std::uint64_t run;
    std::uint32_t attempt;
    task_trigger::wall_point started, ended;
    task_state state;             ///< completed, failed or cancelled
    const std::string& message;   ///< why it did not succeed
    std::string_view traceparent; ///< task::traceparent: the span's parent
};

/// Calls a function for each execution that has ended. An execution under way at the scheduler's end has no span. Use
/// one for each scheduler: it knows an execution by its run number.
class task_spans final : public task_observer {
public:
    /// `report` is called under the scheduler's lock: it returns quickly and does not call the scheduler. If it throws,
    /// that span is lost.
    explicit task_spans(std::function<void(const task_span&)> report) : report_(std::move(report)) {}

    void on_event(const task_event&) noexcept override;

private:
    std::function<void(const task_span&)> report_;
    std::unordered_map<std::uint64_t, task_trigger::wall_point> started_; // by run
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
