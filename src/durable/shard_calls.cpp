// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Writes the arguments as the scripts read them.
#include "shard_calls.hpp"

#include "task_table.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// Lua's numbers are exact up to this.
constexpr std::int64_t largest = std::int64_t{1} << 53;

std::int64_t runs_of(std::int64_t runs) noexcept { return runs > largest ? -1 : runs; }
std::int64_t due_of(std::int64_t due) noexcept { return std::clamp(due, -largest, largest); }

std::string_view word(finish_kind kind) noexcept {
    switch (kind) {
    case finish_kind::ack:
        return "ack";
    case finish_kind::nack:
        return "nack";
    case finish_kind::fail:
        return "fail";
    case finish_kind::back:
        return "back";
    case finish_kind::release:
        return "release";
    }
    return {};
}

} // namespace

shard_calls::shard_calls(const script_library& library, const std::string& queue, std::uint32_t shard)
    : library_(&library), channel_(queue_names::channel(queue)), payload_(std::to_string(shard)) {
    const std::string tag = "{cw:" + queue + ':' + payload_ + "}:";
    for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = tag + std::string(key_names[i]);
}

script_call shard_calls::call(std::string_view script, std::size_t bytes) const {
    script_call c{&library_->at(script), redis_command("EVALSHA")};
    c.command.reserve(bytes + 512);
    c.command.add(c.script->sha).add(keys_.size());
    for (const std::string& k : keys_) c.command.key(k);
    return c;
}

void shard_calls::add_wake(redis_command& c) const {
    c.add(task_table::wake_window).add(task_table::idle_window).add(channel_).add(payload_);
}

void shard_calls::add_limits(redis_command& c, const retention_limits& limits) {
    c.add(limits.done_ms).add(limits.max_done).add(limits.dead_ms).add(limits.max_dead);
}

script_call shard_calls::add(std::span<const new_task> tasks, on_duplicate policy) const {
    std::size_t bytes = 0;
    for (const new_task& t : tasks) bytes += t.id.size() + t.envelope.size() + 96;
    script_call c = call("add", bytes);
    c.command.add(now);
    add_wake(c.command);
    c.command.add(to_string(policy)); // add.lua compares it with the names
    for (const new_task& t : tasks) {
        c.command.add(t.id).add(due_of(t.due)).add((t.recurring ? 1 : 0) + (t.relative ? 2 : 0));
        c.command.add(t.max_attempts).add(runs_of(t.runs_left)).add(t.envelope);
    }
    return c;
}

script_call shard_calls::claim(std::int64_t horizon_ms, std::uint32_t n, std::int64_t lease_ms,
                               const retention_limits& limits) const {
    script_call c = call("claim");
    c.command.add(now).add(horizon_ms).add(n).add(lease_ms);
    add_limits(c.command, limits);
    return c;
}

script_call shard_calls::begin(std::int64_t lease_ms, std::uint32_t nonce,
                               std::span<const begin_request> requests) const {
    std::size_t bytes = 0;
    for (const begin_request& r : requests) bytes += r.id.size() + 64 + 24 * r.occurrences.size();
    script_call c = call("begin", bytes);
    c.command.add(now).add(lease_ms);
    add_wake(c.command);
    c.command.add(nonce);
    for (const begin_request& r : requests) {
        c.command.add(r.id).add(r.generation).add(r.attempt);
        if (r.next_due == 0 && r.occurrences.empty()) {
            c.command.add(0);
            continue;
        }
        c.command.add(2 + r.occurrences.size()).add(due_of(r.next_due)).add(runs_of(r.runs_left));
        for (const std::int64_t due : r.occurrences) c.command.add(due_of(due));
    }
    return c;
}

script_call shard_calls::finish(const retention_limits& limits, std::span<const finish_request> requests) const {
    std::size_t bytes = 0;
    for (const finish_request& r : requests) bytes += r.id.size() + r.text.size() + 80;
    script_call c = call("finish", bytes);
    c.command.add(now);
    add_wake(c.command);
    add_limits(c.command, limits);
    for (const finish_request& r : requests) {
        c.command.add(word(r.kind)).add(r.id).add(r.generation).add(r.attempt);
        c.command.add(due_of(r.delay)).add(r.text);
    }
    return c;
}

script_call shard_calls::extend(std::int64_t lease_ms, std::span<const attempt_ref> attempts) const {
    script_call c = call("extend", 64 * attempts.size());
    c.command.add(now).add(lease_ms);
    for (const attempt_ref& a : attempts) c.command.add(a.id).add(a.generation).add(a.attempt);
    return c;
}

script_call shard_calls::cancel(std::string_view id) const {
    script_call c = call("cancel");
    c.command.add(id);
    return c;
}

script_call shard_calls::reschedule(std::string_view id, std::int64_t due, bool relative) const {
    script_call c = call("reschedule");
    c.command.add(now);
    add_wake(c.command);
    c.command.add(id).add(due_of(due)).add(relative ? 1 : 0);
    return c;
}

script_call shard_calls::hold(std::string_view id, bool held) const {
    script_call c = call("hold");
    c.command.add(now);
    add_wake(c.command);
    c.command.add(id).add(held ? 1 : 0);
    return c;
}

script_call shard_calls::find(std::string_view id) const {
    script_call c = call("find");
    c.command.add(id);
    return c;
}

script_call shard_calls::list(std::string_view cursor, std::uint32_t n) const {
    script_call c = call("list");
    c.command.add(cursor.empty() ? "0" : cursor).add(n);
    return c;
}

script_call shard_calls::dead(std::string_view score, std::string_view id, std::uint32_t n) const {
    script_call c = call("dead");
    c.command.add(score).add(id).add(n);
    return c;
}

script_call shard_calls::redrive(std::string_view id) const {
    script_call c = call("redrive");
    c.command.add(now).add(channel_).add(payload_).add(id);
    return c;
}

script_call shard_calls::purge(std::string_view id) const {
    script_call c = call("purge");
    c.command.add(id);
    return c;
}

script_call shard_calls::pause(bool paused) const {
    script_call c = call("pause");
    c.command.add(paused ? 1 : 0).add(channel_).add(payload_);
    return c;
}

script_call shard_calls::counts() const {
    script_call c = call("counts");
    c.command.add(now);
    return c;
}

script_call shard_calls::audit(std::string_view cursor, std::uint32_t n) const {
    const auto space = cursor.find(' ');
    const bool first = space == cursor.npos;
    script_call c = call("audit");
    c.command.add(now).add(channel_).add(payload_);
    c.command.add(first ? "2" : cursor.substr(0, space)).add(first ? "0" : cursor.substr(space + 1)).add(n);
    return c;
}

script_call queue_names::heartbeat(const script_library& library, const std::string& queue, std::string_view worker,
                                   std::int64_t ttl_ms, std::string_view now) {
    script_call c{&library.at("heartbeat"), redis_command("EVALSHA")};
    c.command.add(c.script->sha).add(1).key(key(queue, "workers")).add(now).add(worker).add(ttl_ms).add(channel(queue));
    return c;
}

script_call queue_names::retire(const script_library& library, const std::string& queue, std::string_view worker) {
    script_call c{&library.at("retire"), redis_command("EVALSHA")};
    c.command.add(c.script->sha).add(1).key(key(queue, "workers")).add(worker).add(channel(queue));
    return c;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
