// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A durable task as a record of a task storage. Its name is "t" and the id. Its body is a line of ten numbers, and then
// the message and the envelope:
//
//     generation state recurring cancelled attempt max_attempts due runs_left place message_size\n
//
// Of a paused task, and of one with failed attempts, the job word is another: `cancelled` is 2 or 3 if it is paused,
// and the message is a note (attempt_history.hpp). Files contain this: a change needs a new job word.
#include "attempt_history.hpp"
#include "journal_store.hpp"

#include <charconv>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {
constexpr std::string_view job = "durable", job_with_note = "durable2";
} // namespace

task_record to_task_record(const task_table::record& r) {
    const stored_task& t = r.task;
    task_record record;
    record.task.name = "t" + t.id;
    const bool with_note = t.paused || !t.history.empty();
    const std::string message = with_note ? pack_note(t) : t.message;
    record.task.job = with_note ? job_with_note : job;
    std::string& body = record.task.body;
    const auto number = [&body](auto n) { (body += std::to_string(n)) += ' '; };
    number(t.generation);
    number(static_cast<int>(t.state));
    number(t.recurring ? 1 : 0);
    number((t.cancelled ? 1 : 0) + (t.paused ? 2 : 0));
    number(t.attempt);
    number(t.max_attempts);
    number(t.due);
    number(t.runs_left);
    number(r.place);
    body += std::to_string(message.size());
    body += '\n';
    body += message;
    body += t.envelope;
    return record;
}

std::optional<task_table::record> from_task_record(const task_record& record) {
    const bool with_note = record.task.job == job_with_note;
    if ((!with_note && record.task.job != job) || record.task.name.size() < 2 || record.task.name[0] != 't') return {};
    const std::string& body = record.task.body;
    const char* at = body.data();
    const char* const end = at + body.size();
    bool sound = true;
    const auto number = [&](auto& n) {
        const auto read = std::from_chars(at, end, n);
        sound = sound && read.ec == std::errc() && read.ptr != end && (*read.ptr == ' ' || *read.ptr == '\n');
        if (sound) at = read.ptr + 1;
    };
    task_table::record r;
    unsigned state = 0, recurring = 0, cancelled = 0;
    std::size_t message = 0;
    number(r.task.generation);
    number(state);
    number(recurring);
    number(cancelled);
    number(r.task.attempt);
    number(r.task.max_attempts);
    number(r.task.due);
    number(r.task.runs_left);
    number(r.place);
    number(message);
    if (!sound || state > 3 || message > static_cast<std::size_t>(end - at)) return {};
    r.task.id = record.task.name.substr(1);
    r.task.state = static_cast<durable_state>(state);
    r.task.recurring = recurring != 0;
    r.task.cancelled = (cancelled & 1) != 0;
    r.task.paused = (cancelled & 2) != 0;
    if (with_note)
        unpack_note(std::string(at, message), r.task);
    else
        r.task.message.assign(at, message);
    r.task.envelope.assign(at + message, end);
    return r;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
