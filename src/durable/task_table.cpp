// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Changes of the table: what the scripts of the same names do.
#include "task_table.hpp"

#include "attempt_history.hpp"
#include "task_envelope.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::string_view lease_ran_out_message = "the lease of the attempt ran out";

constexpr std::int64_t floor_ms(std::int64_t us) noexcept { return us / 1000; }
constexpr std::int64_t ceil_ms(std::int64_t us) noexcept { return (us + 999) / 1000; }

// A delay is rounded up: never early.
constexpr std::int64_t after(std::int64_t delay_ms, std::int64_t now_us) noexcept {
    return delay_ms > 0 ? ceil_ms(now_us) + delay_ms : floor_ms(now_us);
}

constexpr std::int64_t due_of(std::int64_t due, bool relative, std::int64_t now_us) noexcept {
    return std::max<std::int64_t>(relative ? after(due, now_us) : due, 1);
}

// A program may replace its recurring tasks at each start, more often than they are due: then they must run all the
// same. Gives the fresh one what stays while the trigger is the same. Returns whether nothing else differs.
bool goes_on(const stored_task& old, stored_task& fresh) {
    if (!old.recurring || !fresh.recurring || old.state != durable_state::waiting) return false;
    auto envelope = continued(old.envelope, fresh.envelope);
    if (!envelope) return false;
    fresh.envelope = std::move(*envelope);
    fresh.due = old.due;
    fresh.runs_left = old.runs_left;
    fresh.paused = old.paused;
    return fresh.envelope == old.envelope && fresh.max_attempts == old.max_attempts;
}

} // namespace

task_table::order& task_table::order_of(durable_state s) noexcept {
    return s == durable_state::done ? done_ : s == durable_state::dead ? dead_ : due_;
}

void task_table::note(const std::string& id) {
    if (changes_.contains(id)) return;
    const auto at = records_.find(id);
    changes_.emplace(id, at == records_.end() ? std::nullopt : std::optional(at->second));
}

void task_table::store(record r) {
    note(r.task.id);
    const auto [at, added] = records_.try_emplace(r.task.id);
    if (!added) order_of(at->second.task.state).erase({at->second.place, at->first});
    at->second = std::move(r);
    order_of(at->second.task.state).emplace(at->second.place, at->first);
}

void task_table::drop(std::string_view id) {
    const auto at = records_.find(id);
    if (at == records_.end()) return;
    note(at->first);
    order_of(at->second.task.state).erase({at->second.place, at->first});
    records_.erase(at);
}

// Changes the place only: without a copy of the envelope, and without a note.
void task_table::place(record& r, std::int64_t place) {
    auto node = order_of(r.task.state).extract({r.place, r.task.id});
    r.place = place;
    node.value().first = place;
    order_of(r.task.state).insert(std::move(node));
}

void task_table::undo(const std::string& id) {
    const auto change = changes_.find(id);
    if (change == changes_.end()) return;
    std::optional<record> before = std::move(change->second);
    const std::string name = change->first;
    if (before)
        store(std::move(*before));
    else
        drop(name);
    changes_.erase(name);
}

task_table::record* task_table::sound(std::string_view id, std::uint64_t generation) {
    const auto at = records_.find(id);
    return at != records_.end() && at->second.task.generation == generation ? &at->second : nullptr;
}

std::uint64_t task_table::next_gen(std::int64_t now_us) noexcept {
    return last_gen_ = std::max(last_gen_ + 1, static_cast<std::uint64_t>(now_us));
}

task_table::wake_hint task_table::wake(std::int64_t now_us) const noexcept {
    const std::int64_t ms = floor_ms(now_us);
    const auto head = due_.lower_bound({1, {}});
    if (came_ <= ms + idle_window && (head == due_.end() || head->first >= came_))
        return came_ <= ms + wake_window ? wake_hint::soon : wake_hint::later;
    return comes_back_ <= ms + idle_window ? wake_hint::later : wake_hint::none;
}

std::vector<added_task> task_table::add(std::int64_t now_us, std::vector<new_task> tasks, on_duplicate policy) {
    std::vector<added_task> answer;
    answer.reserve(tasks.size());
    for (new_task& t : tasks) {
        const record* old = find(t.id);
        if (old != nullptr && policy == on_duplicate::reject) {
            answer.push_back({0, 0, true});
        } else if (old != nullptr && policy == on_duplicate::keep) {
            answer.push_back({old->task.generation, old->task.due, true});
        } else {
            record r;
            r.task.recurring = t.recurring;
            r.task.max_attempts = t.max_attempts;
            r.task.due = due_of(t.due, t.relative, now_us);
            r.task.runs_left = t.runs_left;
            r.task.envelope = std::move(t.envelope);
            if (old != nullptr && goes_on(old->task, r.task)) {
                answer.push_back({old->task.generation, old->task.due, true});
                continue;
            }
            r.task.id = std::move(t.id);
            r.task.generation = next_gen(now_us);
            r.place = r.task.paused ? held_place : r.task.due;
            answer.push_back({r.task.generation, r.task.due, false});
            if (!r.task.paused) came(r.task.due);
            store(std::move(r));
        }
    }
    return answer;
}

void task_table::lease_ran_out(std::int64_t now_us, record r) {
    if (r.task.cancelled) return drop(r.task.id);
    remember_failure(r.task, floor_ms(now_us), true, std::string(lease_ran_out_message));
    if (r.task.attempt < r.task.max_attempts) {
        r.task.state = durable_state::waiting;
        r.place = r.task.due;
    } else {
        r.task.state = durable_state::dead;
        r.place = floor_ms(now_us);
    }
    store(std::move(r));
}

std::int64_t task_table::next_claim(std::int64_t ms, std::int64_t horizon_ms) const noexcept {
    const auto head = due_.lower_bound({-ms, {}}); // a lease that has run out, or what is due next
    std::int64_t next = held_place;
    if (head != due_.end()) next = std::min(next, head->first - horizon_ms);
    if (paused_ && next <= ms) return held_place;
    if (head != due_.begin()) next = std::min(next, -std::prev(head)->first);
    return next;
}

claimed_tasks task_table::claim(std::int64_t now_us, std::int64_t horizon_ms, std::uint32_t n, std::int64_t lease_ms,
                                const retention_limits& limits) {
    const std::int64_t ms = floor_ms(now_us);
    claimed_tasks answer{.now_us = now_us};
    if (!paused_) {
        const std::size_t half = (n + 1) / 2;
        std::vector<std::string> ids;
        for (auto at = due_.lower_bound({0, {}}); at != due_.begin() && ids.size() < half;) {
            --at;
            if (at->first < -ms) break;
            ids.emplace_back(at->second);
        }
        const std::size_t late = ids.size();
        for (auto at = due_.lower_bound({1, {}}); at != due_.end() && ids.size() < n && at->first <= ms + horizon_ms;
             ++at)
            ids.emplace_back(at->second);
        answer.more = late == half || ids.size() == n;
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::string& id = ids[i];
            if (bytes > (i < late ? claim_bytes / 2 : claim_bytes)) {
                answer.more = true;
                continue;
            }
            if (find(id)->task.state == durable_state::running) lease_ran_out(now_us, *find(id));
            const auto at = records_.find(id);
            if (at == records_.end() || at->second.task.state != durable_state::waiting) continue;
            place(at->second, -(std::max(at->second.task.due, ms) + lease_ms));
            bytes += at->second.task.envelope.size();
            answer.tasks.push_back(at->second.task);
            answer.tasks.back().message.clear();
            answer.tasks.back().history.clear();
        }
    }
    answer.next = next_claim(ms, horizon_ms);
    constexpr std::size_t most_trimmed = 64;
    const std::size_t done = trim(done_, now_us, most_trimmed, limits.done_ms, limits.max_done),
                      dead = trim(dead_, now_us, most_trimmed, limits.dead_ms, limits.max_dead);
    if (std::max(done, dead) == most_trimmed) answer.next = std::min(answer.next, ms); // there may be more
    return answer;
}

begun_task task_table::recur(std::int64_t now_us, std::int64_t lease_ms, std::uint32_t nonce,
                             const begin_request& request, const record& parent) {
    begun_task answer;
    const stored_task from = parent.task; // a copy: the table changes
    bool first = true;
    for (const std::int64_t due : request.occurrences) {
        record r;
        r.task.id = from.id + '@' + std::to_string(due);
        const bool begins = std::exchange(first, false);
        if (find(r.task.id) != nullptr) continue;
        r.task.generation = next_gen(now_us);
        r.task.max_attempts = from.max_attempts;
        r.task.due = r.place = std::max<std::int64_t>(due, 1);
        r.task.envelope = from.envelope;
        if (begins) {
            r.task.state = durable_state::running;
            r.task.attempt = 1;
            r.place = -(floor_ms(now_us) + lease_ms);
            r.begun_by = nonce;
            answer = {1, r.task.generation};
        } else {
            came(r.task.due);
        }
        store(std::move(r));
    }
    if (request.next_due <= 0) {
        drop(from.id);
        return answer;
    }
    record next{from, request.next_due};
    next.task.generation = next_gen(now_us);
    next.task.due = request.next_due;
    next.task.runs_left = request.runs_left;
    came(next.task.due);
    store(std::move(next));
    return answer;
}

// What this worker began in an earlier call with this request. Renews its lease.
begun_task task_table::begun_before(std::int64_t leased, std::uint32_t nonce, const begin_request& request) {
    const auto runs = [&](const record& r, std::uint32_t attempt) {
        return r.task.state == durable_state::running && r.begun_by == nonce && r.task.attempt == attempt;
    };
    auto at = records_.find(request.id);
    bool found = at != records_.end() && runs(at->second, request.attempt + 1) &&
                 at->second.task.generation == request.generation;
    if (!found && !request.occurrences.empty()) {
        at = records_.find(request.id + '@' + std::to_string(request.occurrences.front()));
        found = at != records_.end() && runs(at->second, 1);
    }
    if (!found) return {};
    place(at->second, leased);
    return {at->second.task.attempt, at->second.task.generation};
}

std::vector<begun_task> task_table::begin(std::int64_t now_us, std::int64_t lease_ms, std::uint32_t nonce,
                                          std::span<const begin_request> requests) {
    const std::int64_t leased = -(floor_ms(now_us) + lease_ms);
    std::vector<begun_task> answer;
    answer.reserve(requests.size());
    for (const begin_request& request : requests) {
        begun_task& begun = answer.emplace_back();
        record* r = sound(request.id, request.generation);
        if (r == nullptr || r->task.state != durable_state::waiting || r->task.paused) {
            begun = begun_before(leased, nonce, request);
            continue;
        }
        std::int64_t first = r->task.due;
        if (r->task.recurring && !request.occurrences.empty()) first = std::max(first, request.occurrences.front());
        if (paused_) {
            place(*r, r->task.due);
        } else if (first * 1000 > now_us) {
            begun.attempt = now_us - first * 1000;
        } else if (r->task.recurring) {
            begun = recur(now_us, lease_ms, nonce, request, *r);
        } else {
            record next = *r;
            next.task.state = durable_state::running;
            begun = {++next.task.attempt, next.task.generation};
            next.place = leased;
            next.begun_by = nonce;
            store(std::move(next));
        }
    }
    return answer;
}

bool task_table::finish_one(std::int64_t now_us, const retention_limits& limits, const finish_request& request,
                            std::size_t& done, std::size_t& dead) {
    record* r = sound(request.id, request.generation);
    if (r == nullptr) return false;
    const durable_state state = r->task.state;
    if (request.kind == finish_kind::release) {
        if (state != durable_state::waiting || r->task.paused) return false;
        if (request.delay > 0 && r->task.attempt != request.attempt) return false;
        if (request.delay > 0) {
            comes_back_ = std::min(comes_back_, after(request.delay, now_us));
            place(*r, -after(request.delay, now_us));
        } else {
            place(*r, r->task.due);
            came(r->task.due);
        }
        return true;
    }
    if (r->task.attempt == 0 || r->task.attempt != request.attempt) return false;
    record next = *r;
    if (request.kind == finish_kind::ack) {
        if (state == durable_state::done) return false;
        if (limits.done_ms <= 0 || limits.max_done == 0) {
            drop(request.id);
            return true;
        }
        next.task.state = durable_state::done;
        next.task.recurring = next.task.cancelled = next.task.paused = false;
        next.task.envelope = request.text;
        next.task.message.clear();
        next.place = floor_ms(now_us);
        store(std::move(next));
        ++done;
        return true;
    }
    if (state != durable_state::running) return false;
    if (next.task.cancelled) {
        drop(request.id);
        return true;
    }
    constexpr std::uint32_t most_attempts = 65'535;
    const bool back = request.kind == finish_kind::back;
    if (back) next.task.max_attempts = std::min(next.task.max_attempts + 1, most_attempts);
    if (back && next.task.attempt < next.task.max_attempts) {
        next.task.state = durable_state::waiting;
        next.task.message = request.text;
        const std::int64_t till = after(std::max<std::int64_t>(request.delay, 1), now_us);
        comes_back_ = std::min(comes_back_, till);
        next.place = -till;
        store(std::move(next));
        return true;
    }
    remember_failure(next.task, floor_ms(now_us), false, request.text);
    if (request.kind == finish_kind::fail || next.task.attempt >= next.task.max_attempts) {
        next.task.state = durable_state::dead;
        next.place = floor_ms(now_us);
        ++dead;
    } else {
        next.task.state = durable_state::waiting;
        next.task.due = next.place = after(request.delay, now_us);
        came(next.task.due);
    }
    store(std::move(next));
    return true;
}

std::vector<bool> task_table::finish(std::int64_t now_us, const retention_limits& limits,
                                     std::span<const finish_request> requests) {
    std::vector<bool> answer;
    answer.reserve(requests.size());
    std::size_t done = 0, dead = 0;
    for (const finish_request& request : requests) answer.push_back(finish_one(now_us, limits, request, done, dead));
    trim(done_, now_us, 4 * done, limits.done_ms, limits.max_done);
    trim(dead_, now_us, 4 * dead, limits.dead_ms, limits.max_dead);
    return answer;
}

std::vector<extended> task_table::extend(std::int64_t now_us, std::int64_t lease_ms,
                                         const std::vector<attempt_ref>& attempts) {
    std::vector<extended> answer;
    answer.reserve(attempts.size());
    for (const attempt_ref& a : attempts) {
        record* r = sound(a.id, a.generation);
        if (r == nullptr || r->task.state != durable_state::running || r->task.attempt != a.attempt) {
            answer.push_back(extended::stale);
            continue;
        }
        place(*r, -(floor_ms(now_us) + lease_ms));
        answer.push_back(r->task.cancelled ? extended::cancelled : extended::yes);
    }
    return answer;
}

removal task_table::cancel(std::string_view id) {
    const record* r = find(id);
    if (r == nullptr || r->task.state == durable_state::done || r->task.state == durable_state::dead)
        return removal::not_found;
    if (r->task.state == durable_state::waiting) {
        drop(id);
        return removal::removed;
    }
    if (!r->task.cancelled) {
        record next = *r;
        next.task.cancelled = true;
        store(std::move(next));
    }
    return removal::running;
}

task_table::moved task_table::reschedule(std::int64_t now_us, std::string_view id, std::int64_t due, bool relative) {
    const record* r = find(id);
    if (r == nullptr || r->task.state == durable_state::done || r->task.state == durable_state::dead) return {};
    if (r->task.state == durable_state::running) return {removal::running, {r->task.generation, r->task.due, true}};
    if (r->task.recurring) return {removal::recurring, {r->task.generation, r->task.due, true}};
    record next = *r;
    next.task.generation = next_gen(now_us);
    next.task.due = next.place = due_of(due, relative, now_us);
    const added_task now{next.task.generation, next.task.due, true};
    if (next.task.paused)
        next.place = held_place;
    else
        came(next.task.due);
    store(std::move(next));
    return {removal::removed, now};
}

removal task_table::hold(std::int64_t now_us, std::string_view id, bool held) {
    const record* r = find(id);
    if (r == nullptr || r->task.state == durable_state::done || r->task.state == durable_state::dead)
        return removal::not_found;
    if (r->task.state == durable_state::running) return removal::running;
    if (r->task.paused == held) return removal::removed;
    record next = *r;
    next.task.paused = held;
    if (held) {
        next.task.generation = next_gen(now_us);
        next.place = held_place;
    } else {
        next.place = next.task.due;
        came(next.task.due);
    }
    store(std::move(next));
    return removal::removed;
}

bool task_table::redrive(std::int64_t now_us, std::string_view id) {
    const record* r = find(id);
    if (r == nullptr || r->task.state != durable_state::dead) return false;
    record next = *r;
    next.task.generation = next_gen(now_us);
    next.task.state = durable_state::waiting;
    next.task.recurring = next.task.cancelled = next.task.paused = false;
    next.task.attempt = 0;
    next.task.due = next.place = floor_ms(now_us);
    next.task.message.clear();
    next.task.history.clear();
    came(1);
    store(std::move(next));
    return true;
}

bool task_table::purge(std::string_view id) {
    const record* r = find(id);
    if (r == nullptr || r->task.state == durable_state::waiting || r->task.state == durable_state::running)
        return false;
    drop(id);
    return true;
}

bool task_table::pause(bool paused) {
    if (paused_ == paused) return false;
    paused_ = paused;
    if (!paused) came(1);
    return true;
}

void task_table::restore(std::int64_t now_us, record r) {
    restore_generation(r.task.generation);
    const durable_state state = r.task.state;
    if (state == durable_state::waiting) r.place = r.task.paused ? held_place : r.task.due;
    if (state != durable_state::running) return store(std::move(r));
    const bool last = r.task.attempt >= r.task.max_attempts;
    r.place = r.task.due;
    store(r);
    if (r.task.cancelled || last) return lease_ran_out(now_us, std::move(r));
    r.task.state = durable_state::waiting;
    remember_failure(r.task, floor_ms(now_us), true, std::string(lease_ran_out_message));
    store(std::move(r));
}

std::size_t task_table::trim(order& ended, std::int64_t now_us, std::size_t most_now, std::int64_t age,
                             std::uint32_t most) {
    const std::int64_t oldest = floor_ms(now_us) - age;
    std::size_t n = 0;
    for (; n < most_now && !ended.empty(); ++n) {
        if (ended.size() <= most && ended.begin()->first > oldest) break;
        drop(std::string(ended.begin()->second));
    }
    return n;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
