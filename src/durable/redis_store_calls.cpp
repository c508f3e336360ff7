// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The functions of the store: arguments to a script, its reply to an answer.
#include "redis_store.hpp"

#include <algorithm>
#include <charconv>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// Calls `make` for each part of at most max_script_batch elements.
template <class T, class Make>
std::vector<script_call> in_batches(const std::vector<T>& all, Make make) {
    std::vector<script_call> calls;
    const std::span<const T> whole(all);
    for (std::size_t from = 0; from < whole.size(); from += max_script_batch)
        calls.push_back(make(whole.subspan(from, std::min(max_script_batch, whole.size() - from))));
    return calls;
}

// Joins the parts' answers. Returns bad_reply unless there are `wanted` in all.
template <class T, class Read, class Convert>
error_code join(std::vector<redis_reply>& replies, std::size_t wanted, std::vector<T>& to, Read read, Convert convert) {
    to.reserve(wanted);
    for (redis_reply& r : replies) {
        const auto part = read(r);
        if (!part) return durable_errc::bad_reply;
        for (const auto& v : *part) to.push_back(convert(v));
    }
    return to.size() == wanted ? error_code() : durable_errc::bad_reply;
}

constexpr auto same = [](const auto& v) { return v; };

/// A cursor of a walk over shards: "<shard> <cursor in it>".
struct shard_cursor {
    std::uint32_t shard = 0;
    std::string rest{};

    /// Returns nothing if this is no cursor. The rest of one begins with a number, or is empty.
    static std::optional<shard_cursor> parse(std::string_view text) {
        shard_cursor c;
        if (text.empty()) return c;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), c.shard);
        if (failed != std::errc() || end == text.data() + text.size() || *end != ' ') return {};
        c.rest = text.substr(static_cast<std::size_t>(end + 1 - text.data()));
        std::uint64_t number = 0;
        const char* const last = c.rest.data() + c.rest.size();
        const auto first = std::from_chars(c.rest.data(), last, number);
        if (!c.rest.empty() && (first.ec != std::errc() || (first.ptr != last && *first.ptr != ' '))) return {};
        return c;
    }
    std::string text() const { return std::to_string(shard) + ' ' + rest; }
};

constexpr std::uint32_t page_size(std::uint32_t n) noexcept {
    return std::clamp(n, 1u, static_cast<std::uint32_t>(max_script_batch));
}

} // namespace

awaitable_answer<std::vector<added_task>> redis_store::add(std::uint32_t shard, std::vector<new_task> tasks,
                                                           on_duplicate policy) {
    answer<std::vector<added_task>> a;
    if (tasks.empty()) co_return a;
    const shard_calls& s = shards_[shard];
    auto parts = in_batches(tasks, [&](auto part) { return s.add(part, policy); });
    sent r = co_await send(std::move(parts), s.keys(), true);
    a.error = r.error;
    if (a.error) co_return a;
    a.error = join(r.replies, tasks.size(), a.value, read_added, same);
    if (!a.error) a.error = r.unconfirmed;
    co_return a;
}

awaitable_answer<claimed_tasks> redis_store::claim(std::uint32_t shard, std::int64_t horizon_ms, std::uint32_t n,
                                                   std::int64_t lease_ms, const retention_limits& limits) {
    answer<claimed_tasks> a;
    auto call = shards_[shard].claim(horizon_ms, page_size(n), lease_ms, limits);
    sent r = co_await send(std::move(call), shard);
    a.error = r.error;
    if (a.error) co_return a;
    auto claimed = read_claimed(std::move(r.replies[0]));
    if (claimed)
        a.value = std::move(*claimed);
    else
        a.error = durable_errc::bad_reply;
    co_return a;
}

template <class Ways>
asio::awaitable<error_code> redis_store::send(attempt_calls<Ways>& attempts) {
    error_code first;
    for (;;) {
        calls all = attempts.next();
        if (all.empty()) co_return first;
        sent s = co_await exchange(std::move(all), false);
        if (s.error) co_return s.error;
        for (std::size_t k = 0; k < s.replies.size(); ++k) {
            const redis_reply& r = s.replies[k];
            if (r.is_error() && r.text().starts_with("CROSSSLOT")) shards_share_calls_ = false;
            if (attempts.take(k, r) || first) continue;
            first = durable_errc::bad_reply;
            if (r.is_error()) first = co_await explain(r, shards_[attempts.shard_of_call(k)].keys());
        }
    }
}

awaitable_answer<begun_tasks> redis_store::begin(std::int64_t lease_ms, std::uint32_t nonce,
                                                 std::span<const begin_request> requests) {
    attempt_calls<begin_ways> attempts({&library_, shards_, lease_ms, nonce}, requests, shards_share_calls_);
    answer<begun_tasks> a;
    a.error = co_await send(attempts);
    a.value = {attempts.ways().now_us, attempts.take_answers()};
    co_return a;
}

awaitable_answer<std::vector<std::optional<bool>>> redis_store::finish(const retention_limits& limits,
                                                                       std::span<const finish_request> requests) {
    attempt_calls<finish_ways> attempts({&library_, shards_, limits}, requests, shards_share_calls_);
    answer<std::vector<std::optional<bool>>> a;
    a.error = co_await send(attempts);
    a.value = attempts.take_answers();
    co_return a;
}

awaitable_answer<std::vector<extended>> redis_store::extend(std::uint32_t shard, std::int64_t lease_ms,
                                                            std::vector<attempt_ref> attempts) {
    answer<std::vector<extended>> a;
    if (attempts.empty()) co_return a;
    const shard_calls& s = shards_[shard];
    auto parts = in_batches(attempts, [&](auto part) { return s.extend(lease_ms, part); });
    sent r = co_await send(std::move(parts), s.keys(), false);
    a.error = r.error;
    if (!a.error)
        a.error = join(r.replies, attempts.size(), a.value, read_integers, [](std::int64_t v) {
            return v == 2 ? extended::cancelled : v == 1 ? extended::yes : extended::stale;
        });
    co_return a;
}

awaitable_answer<std::int64_t> redis_store::ask_integer(script_call call, std::uint32_t shard, bool confirm) {
    answer<std::int64_t> a;
    sent r = co_await send(std::move(call), shard, confirm);
    a.error = r.error;
    if (a.error) co_return a;
    a.value = r.replies[0].integer();
    a.error = r.unconfirmed;
    if (r.replies[0].what() != redis_reply::kind::integer) a.error = durable_errc::bad_reply;
    co_return a;
}

awaitable_answer<removal> redis_store::cancel(std::string id) {
    const std::uint32_t shard = shard_of(id);
    auto call = shards_[shard].cancel(id);
    const auto r = co_await ask_integer(std::move(call), shard, true);
    answer<removal> a{r.error, static_cast<removal>(r.value)};
    co_return a;
}

awaitable_answer<removal> redis_store::reschedule(std::string id, std::int64_t due, bool relative, added_task& now) {
    answer<removal> a;
    const std::uint32_t shard = shard_of(id);
    auto call = shards_[shard].reschedule(id, due, relative);
    sent r = co_await send(std::move(call), shard, true);
    a.error = r.error;
    if (a.error) co_return a;
    const auto values = read_integers(r.replies[0]);
    if (!values || values->size() != 3) {
        a.error = durable_errc::bad_reply;
        co_return a;
    }
    a.value = static_cast<removal>((*values)[0]);
    now = {static_cast<std::uint64_t>((*values)[1]), (*values)[2], a.value != removal::not_found};
    a.error = r.unconfirmed;
    co_return a;
}

awaitable_answer<removal> redis_store::hold(std::string id, bool held) {
    const std::uint32_t shard = shard_of(id);
    auto call = shards_[shard].hold(id, held);
    const auto r = co_await ask_integer(std::move(call), shard, true);
    answer<removal> a{r.error, static_cast<removal>(r.value)};
    co_return a;
}

awaitable_answer<stored_task> redis_store::find(std::string id) {
    answer<stored_task> a;
    const std::uint32_t shard = shard_of(id);
    auto call = shards_[shard].find(id);
    sent r = co_await send(std::move(call), shard);
    a.error = r.error;
    if (a.error) co_return a;
    if (r.replies[0].is_nil()) {
        a.error = durable_errc::no_such_task;
        co_return a;
    }
    auto task = read_found(std::move(id), std::move(r.replies[0]));
    if (task)
        a.value = std::move(*task);
    else
        a.error = durable_errc::bad_reply;
    co_return a;
}

awaitable_answer<stored_page> redis_store::list(std::string cursor, std::uint32_t n) {
    answer<stored_page> a;
    const auto from = shard_cursor::parse(cursor);
    if (!from) {
        a.error = durable_errc::bad_cursor;
        co_return a;
    }
    shard_cursor at = *from;
    while (a.value.tasks.empty() && at.shard < shards()) {
        auto call = shards_[at.shard].list(at.rest, page_size(n));
        sent r = co_await send(std::move(call), at.shard);
        a.error = r.error;
        if (a.error) co_return a;
        auto listed = read_listed(std::move(r.replies[0]));
        if (!listed) {
            a.error = durable_errc::bad_reply;
            co_return a;
        }
        auto& tasks = listed->page.tasks;
        while (!listed->without_envelope.empty()) { // from the last one on: those that are gone now are left out
            const std::size_t i = listed->without_envelope.back();
            listed->without_envelope.pop_back();
            answer<stored_task> one = co_await find(tasks[i].id);
            if (one.error == durable_errc::no_such_task) {
                tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(i));
                continue;
            }
            a.error = one.error;
            if (a.error) co_return a;
            tasks[i] = std::move(one.value);
        }
        a.value.tasks = std::move(tasks);
        at.rest = std::move(listed->page.cursor);
        if (at.rest.empty()) ++at.shard;
    }
    if (at.shard < shards()) a.value.cursor = at.text();
    co_return a;
}

// The cursor within a shard: "<score> <id>" of the last task.
awaitable_answer<stored_page> redis_store::dead(std::string cursor, std::uint32_t n) {
    answer<stored_page> a;
    const auto from = shard_cursor::parse(cursor);
    if (!from) {
        a.error = durable_errc::bad_cursor;
        co_return a;
    }
    shard_cursor at = *from;
    while (a.value.tasks.empty() && at.shard < shards()) {
        const auto space = std::min(at.rest.find(' '), at.rest.size());
        const std::string_view rest(at.rest);
        const auto id = rest.substr(std::min(space + 1, rest.size()));
        auto call = shards_[at.shard].dead(rest.substr(0, space), id, page_size(n));
        sent r = co_await send(std::move(call), at.shard);
        a.error = r.error;
        if (a.error) co_return a;
        auto page = read_dead(std::move(r.replies[0]));
        if (!page) {
            a.error = durable_errc::bad_reply;
            co_return a;
        }
        a.value.tasks = std::move(page->tasks);
        if (!page->more || a.value.tasks.empty()) {
            ++at.shard;
            at.rest.clear();
        } else {
            at.rest = page->score + ' ' + a.value.tasks.back().id;
        }
    }
    if (at.shard < shards()) a.value.cursor = at.text();
    co_return a;
}

awaitable_answer<bool> redis_store::redrive(std::string id) {
    const std::uint32_t shard = shard_of(id);
    auto call = shards_[shard].redrive(id);
    const auto r = co_await ask_integer(std::move(call), shard);
    answer<bool> a{r.error, r.value == 1};
    co_return a;
}

awaitable_answer<bool> redis_store::purge(std::string id) {
    const std::uint32_t shard = shard_of(id);
    auto call = shards_[shard].purge(id);
    const auto r = co_await ask_integer(std::move(call), shard);
    answer<bool> a{r.error, r.value == 1};
    co_return a;
}

asio::awaitable<error_code> redis_store::pause(bool paused) {
    error_code first;
    for (std::uint32_t shard = 0; shard < shards(); ++shard) {
        auto call = shards_[shard].pause(paused);
        const auto r = co_await ask_integer(std::move(call), shard);
        if (!first) first = r.error;
    }
    co_return first;
}

awaitable_answer<shard_counts> redis_store::counts(std::uint32_t shard) {
    answer<shard_counts> a;
    auto call = shards_[shard].counts();
    sent r = co_await send(std::move(call), shard);
    a.error = r.error;
    if (a.error) co_return a;
    const auto counts = read_counts(r.replies[0]);
    if (counts)
        a.value = *counts;
    else
        a.error = durable_errc::bad_reply;
    co_return a;
}

awaitable_answer<audit_step> redis_store::audit(std::uint32_t shard, std::string cursor, std::uint32_t n) {
    answer<audit_step> a;
    auto call = shards_[shard].audit(cursor, page_size(n));
    sent r = co_await send(std::move(call), shard);
    a.error = r.error;
    if (a.error) co_return a;
    auto step = read_audit(r.replies[0]);
    if (step)
        a.value = std::move(*step);
    else
        a.error = durable_errc::bad_reply;
    co_return a;
}

awaitable_answer<live_workers> redis_store::heartbeat(std::string worker, std::int64_t ttl_ms) {
    answer<live_workers> a;
    calls one;
    one.push_back(queue_names::heartbeat(library_, options_.name, worker, ttl_ms));
    sent r = co_await send(std::move(one), {}, false);
    a.error = r.error;
    if (a.error) co_return a;
    auto beat = read_heartbeat(std::move(r.replies[0]));
    if (beat)
        a.value = std::move(*beat);
    else
        a.error = durable_errc::bad_reply;
    co_return a;
}

asio::awaitable<error_code> redis_store::retire(std::string worker) {
    calls one;
    one.push_back(queue_names::retire(library_, options_.name, worker));
    sent r = co_await send(std::move(one), {}, false);
    co_return r.error;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
