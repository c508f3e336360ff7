// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Writes tasks as JSON.
#include "../detail/json_writer.hpp"

#include <cogwheel/tasks/detail/task_words.hpp>
#include <cogwheel/tasks/task_info.hpp>

#include <span>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

void write(detail::json_writer& json, const task_attempt& a) {
    json.open('{');
    json.text("scheduled", detail::date_text(a.scheduled));
    json.text("started", detail::date_text(a.started));
    json.text("ended", detail::date_text(a.ended));
    json.number("attempt", a.attempt);
    json.text("state", to_string(a.state));
    json.text("message", a.message);
    json.text("result", a.result);
    json.close('}');
}

void write(detail::json_writer& json, const task_info& t) {
    json.open('{');
    json.text("name", t.name);
    json.text("job", t.job);
    json.text("when", t.when);
    json.text("state", to_string(t.state));
    json.key("paused");
    json.raw(t.paused ? "true" : "false");
    json.key("next");
    t.next ? json.string(detail::date_text(*t.next)) : json.raw("null");
    json.key("runs_left");
    json.raw(t.runs_left == forever ? "null" : std::to_string(t.runs_left));
    json.number("attempt", t.attempt);
    json.number("completed", t.completed);
    json.number("failed", t.failed);
    json.number("cancelled", t.cancelled);
    json.number("missed", t.missed);
    json.number("dropped", t.dropped);
    json.text("message", t.message);
    json.text("result", t.result);
    json.text("traceparent", t.traceparent);
    json.key("history");
    json.open('[');
    for (const task_attempt& a : t.history) write(json, a);
    json.close(']');
    json.close('}');
}

} // namespace

std::string to_json(std::span<const task_info> tasks) {
    detail::json_writer json;
    json.open('[');
    for (const task_info& t : tasks) write(json, t);
    json.close(']');
    return json.take();
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
