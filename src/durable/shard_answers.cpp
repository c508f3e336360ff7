// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads what the scripts answer. The bytes come from a server: any form is possible.
#include "attempt_history.hpp"
#include "shard_calls.hpp"

#include <algorithm>
#include <charconv>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::size_t record_size = 29;

std::uint64_t number(std::string_view bytes, std::size_t from, std::size_t size) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[from + i]);
    return value;
}

stored_task task_from(std::string id, std::string_view record, std::string envelope, std::string note) {
    stored_task t;
    t.id = std::move(id);
    t.envelope = std::move(envelope);
    if (record.size() != record_size) {
        t.state = durable_state::dead;
        t.message = "the record was damaged";
        return t;
    }
    unpack_note(std::move(note), t);
    t.generation = number(record, 0, 8);
    const auto flags = static_cast<unsigned char>(record[8]);
    t.state = static_cast<durable_state>(flags % 4);
    t.recurring = (flags & 4) != 0;
    t.cancelled = (flags & 8) != 0;
    t.paused = (flags & 16) != 0;
    t.attempt = static_cast<std::uint32_t>(number(record, 9, 2));
    t.max_attempts = static_cast<std::uint32_t>(number(record, 11, 2));
    t.due = static_cast<std::int64_t>(number(record, 13, 8));
    const auto runs = static_cast<std::int64_t>(number(record, 21, 8));
    t.runs_left = !t.recurring ? 1 : runs < 0 ? forever : runs;
    return t;
}

static_assert(static_cast<int>(durable_state::waiting) == 0 && static_cast<int>(durable_state::running) == 1);
static_assert(static_cast<int>(durable_state::done) == 2 && static_cast<int>(durable_state::dead) == 3);

bool integers(const redis_reply& r, std::size_t from, std::size_t to) {
    if (r.elements().size() < to) return false;
    for (std::size_t i = from; i < to; ++i)
        if (r.elements()[i].what() != redis_reply::kind::integer) return false;
    return true;
}

// With such times one can calculate. In microseconds.
bool is_a_time(std::int64_t us) { return us >= 0 && us <= 1'000 * held_place / 4; }

std::string& text(redis_reply& r, std::size_t i) { return r.elements()[i].text(); }

} // namespace

std::optional<std::vector<added_task>> read_added(const redis_reply& r) {
    const auto& e = r.elements();
    if (!r.is_array() || e.size() % 2 != 0 || !integers(r, 0, e.size())) return {};
    std::vector<added_task> tasks;
    tasks.reserve(e.size() / 2);
    for (std::size_t i = 0; i < e.size(); i += 2) {
        const std::int64_t g = e[i].integer();
        tasks.push_back({static_cast<std::uint64_t>(g < 0 ? -g : g), e[i + 1].integer(), g <= 0});
    }
    return tasks;
}

std::optional<claimed_tasks> read_claimed(redis_reply&& r) {
    auto& e = r.elements();
    if (!r.is_array() || e.size() % 3 != 0 || !integers(r, 0, 3)) return {};
    claimed_tasks c{.now_us = e[0].integer(), .more = e[1].integer() != 0, .next = e[2].integer()};
    if (c.next < -held_place || c.next > held_place || !is_a_time(c.now_us)) return {};
    c.tasks.reserve(e.size() / 3 - 1);
    for (std::size_t i = 3; i < e.size(); i += 3)
        c.tasks.push_back(task_from(std::move(text(r, i)), text(r, i + 1), std::move(text(r, i + 2)), {}));
    return c;
}

std::optional<begun_tasks> read_begun(const redis_reply& r) {
    const auto& e = r.elements();
    if (!r.is_array() || e.size() % 2 != 1 || !integers(r, 0, 1)) return {};
    begun_tasks begun{e[0].integer()};
    begun.tasks.reserve(e.size() / 2);
    for (std::size_t i = 1; i < e.size(); i += 2) {
        auto& one = begun.tasks.emplace_back();
        if (e[i].is_nil()) continue;
        if (!integers(r, i, i + 2)) return {};
        one = {e[i].integer(), static_cast<std::uint64_t>(e[i + 1].integer())};
    }
    return begun;
}

std::optional<std::vector<std::optional<bool>>> read_finished(const redis_reply& r) {
    if (!r.is_array()) return {};
    std::vector<std::optional<bool>> finished;
    finished.reserve(r.elements().size());
    for (const redis_reply& one : r.elements()) {
        finished.emplace_back();
        if (one.is_nil()) continue;
        if (one.what() != redis_reply::kind::integer) return {};
        finished.back() = one.integer() == 1;
    }
    return finished;
}

std::optional<std::vector<std::int64_t>> read_integers(const redis_reply& r) {
    const auto& e = r.elements();
    if (!r.is_array() || !integers(r, 0, e.size())) return {};
    std::vector<std::int64_t> numbers;
    numbers.reserve(e.size());
    for (const redis_reply& x : e) numbers.push_back(x.integer());
    return numbers;
}

std::optional<stored_task> read_found(std::string id, redis_reply&& r) {
    if (!r.is_array() || r.elements().size() != 3) return {};
    return task_from(std::move(id), text(r, 0), std::move(text(r, 1)), std::move(text(r, 2)));
}

std::optional<listed_page> read_listed(redis_reply&& r) {
    auto& e = r.elements();
    if (!r.is_array() || e.size() % 4 != 1) return {};
    listed_page listed;
    stored_page& page = listed.page;
    if (text(r, 0) != "0") page.cursor = std::move(text(r, 0));
    for (std::size_t i = 1; i < e.size(); i += 4) {
        if (e[i + 2].is_nil()) listed.without_envelope.push_back(page.tasks.size());
        page.tasks.push_back(
            task_from(std::move(text(r, i)), text(r, i + 1), std::move(text(r, i + 2)), std::move(text(r, i + 3))));
    }
    return listed;
}

std::optional<dead_page> read_dead(redis_reply&& r) {
    auto& e = r.elements();
    if (!r.is_array() || e.size() % 5 != 1 || !integers(r, 0, 1)) return {};
    dead_page page;
    page.more = e[0].integer() != 0;
    for (std::size_t i = 1; i < e.size(); i += 5) {
        page.score = text(r, i);
        page.tasks.push_back(
            task_from(std::move(text(r, i + 1)), text(r, i + 2), std::move(text(r, i + 3)), std::move(text(r, i + 4))));
    }
    return page;
}

std::optional<shard_counts> read_counts(const redis_reply& r) {
    const auto& e = r.elements();
    if (!r.is_array() || e.size() != 8 || !integers(r, 0, 8)) return {};
    const auto count = [&](std::size_t i) { return static_cast<std::uint64_t>(e[i].integer()); };
    return shard_counts{e[0].integer(),      count(1),      count(2), count(3), count(4), count(5),
                        e[6].integer() != 0, e[7].integer()};
}

std::optional<audit_step> read_audit(const redis_reply& r) {
    const auto& e = r.elements();
    if (!r.is_array() || e.size() != 4 || !integers(r, 0, 1) || !integers(r, 2, 4)) return {};
    audit_step step{static_cast<std::uint64_t>(e[2].integer()), static_cast<std::uint64_t>(e[3].integer())};
    if (e[0].integer() != 0) step.cursor = std::to_string(e[0].integer()) + ' ' + e[1].text();
    return step;
}

std::optional<live_workers> read_heartbeat(redis_reply&& r) {
    auto& e = r.elements();
    if (!r.is_array() || !integers(r, 0, 1)) return {};
    live_workers live{e[0].integer()};
    if (!is_a_time(live.now_us)) return {};
    for (std::size_t i = 1; i < e.size(); ++i) live.names.push_back(std::move(text(r, i)));
    std::sort(live.names.begin(), live.names.end());
    return live;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
