// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The observers for logs and traces.
#include "../detail/json_writer.hpp"

#include <cogwheel/tasks/detail/task_words.hpp>
#include <cogwheel/tasks/task_log.hpp>

#include <ostream>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

std::string to_json(const task_event& e) {
    detail::json_writer json;
    json.open('{');
    json.text("at", detail::date_text(e.at));
    json.text("event", to_string(e.what));
    json.text("task", e.task);
    json.number("run", e.run);
    json.number("attempt", e.attempt);
    json.text("message", e.message);
    if (!e.traceparent.empty()) json.text("traceparent", e.traceparent);
    json.close('}');
    return json.take();
}

void task_log::on_event(const task_event& e) noexcept {
    try {
        const std::string line = to_json(e) + '\n';
        to_->write(line.data(), static_cast<std::streamsize>(line.size()));
        to_->flush();
    } catch (...) { // no memory for the line, or the stream throws
    }
}

void task_spans::on_event(const task_event& e) noexcept {
    try {
        using enum task_event::kind;
        if (e.run == 0) return;
        if (e.what == started) started_[e.run] = e.at;
        if (e.what != retrying && e.what != completed && e.what != failed && e.what != cancelled) return;
        const auto at = started_.find(e.run);
        if (at == started_.end()) return; // the job never started
        const task_trigger::wall_point begin = at->second;
        started_.erase(at);
        const task_state state = e.what == completed   ? task_state::completed
                                 : e.what == cancelled ? task_state::cancelled
                                                       : task_state::failed;
        report_({e.task, e.run, e.attempt, begin, e.at, state, e.message, e.traceparent});
    } catch (...) { // no memory, or the function threw: this span is lost
    }
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
