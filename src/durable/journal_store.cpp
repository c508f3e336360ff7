// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "journal_store.hpp"

#include <cogwheel/durable/error.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <algorithm>
#include <chrono>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// Not the name of a task: those begin with t.
constexpr std::string_view settings_name = "settings";

task_record settings_record(bool paused, std::uint64_t generation) {
    task_record r;
    r.task.name = settings_name;
    r.task.job = "durable";
    r.task.body = std::string(paused ? "paused " : "resumed ") + std::to_string(generation);
    return r;
}

std::int64_t system_us() {
    using namespace std::chrono;
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace

journal_store::journal_store(asio::any_io_executor executor, task_storage& storage, clock now)
    : executor_(std::move(executor)), storage_(&storage), now_(now ? std::move(now) : clock(system_us)) {}

void journal_store::close() noexcept {
    const std::lock_guard lock(storage_mutex_);
    closed_ = true;
}

error_code journal_store::aborted() const {
    return closed_ ? error_code(asio::error::operation_aborted) : error_code();
}

// The storage may end right after close(). So close() waits for the access under way, and there is none after it.
template <class F>
auto journal_store::with_storage(F f) {
    const std::lock_guard lock(storage_mutex_);
    if (closed_) throw sys::system_error(asio::error::operation_aborted);
    return f(*storage_);
}

// The error of the exception in flight.
error_code journal_store::failed() {
    try {
        throw;
    } catch (const sys::system_error& e) {
        trouble_ = e.what();
        return e.code();
    } catch (const std::bad_alloc&) {
        return make_error_code(sys::errc::not_enough_memory);
    } catch (const std::exception& e) {
        trouble_ = e.what();
        return make_error_code(sys::errc::io_error);
    }
}

void journal_store::undo_all() {
    while (!table_.changed().empty()) table_.undo(std::string(table_.changed().begin()->first));
}

// Stores what has changed. On an error, the table is what the storage holds.
error_code journal_store::keep() {
    std::vector<task_record> saved;
    std::vector<std::string> erased;
    for (const auto& [id, before] : table_.changed()) {
        if (const task_table::record* now = table_.find(id))
            saved.push_back(to_task_record(*now));
        else if (before)
            erased.push_back(id);
    }
    // All records at once. The removals follow: a recurring task whose occurrence exists begins no second one.
    if (saved.size() == 1) with_storage([&](task_storage& s) { s.save(saved.front()); });
    if (saved.size() > 1) with_storage([&](task_storage& s) { s.save_all(saved); });
    error_code ec;
    for (const std::string& id : erased) {
        try {
            with_storage([&](task_storage& s) { s.erase("t" + id); });
        } catch (...) {
            ec = failed();
            table_.undo(id);
        }
    }
    return ec;
}

template <class F>
auto journal_store::change(F f) -> answer<decltype(f())> {
    answer<decltype(f())> a;
    a.error = aborted();
    if (a.error) return a;
    table_.note_changes();
    try {
        a.value = f();
        a.error = keep();
    } catch (...) {
        a.error = failed();
        undo_all();
    }
    if (a.error) a.value = {};
    wake(table_.wake(now_())); // also after an error: a part may have been stored
    return a;
}

template <class Call>
void journal_store::tell(Call call) {
    asio::post(executor_, [hints = std::weak_ptr(hints_), call] {
        if (const auto h = hints.lock()) call(*h);
    });
}

void journal_store::wake(task_table::wake_hint hint) {
    if (hint == task_table::wake_hint::none) return;
    tell([soon = hint == task_table::wake_hint::soon](const hints& h) {
        if (h.on_wake) h.on_wake(0, soon);
    });
}

void journal_store::workers_changed() {
    tell([](const hints& h) {
        if (h.on_workers) h.on_workers();
    });
}

void journal_store::listen(hints h) { hints_ = std::make_shared<hints>(std::move(h)); }

error_code journal_store::load() {
    table_ = task_table();
    table_.note_changes();
    const std::int64_t now = now_();
    const task_storage::contents loaded = with_storage([](task_storage& s) { return s.load(); });
    trouble_.clear();
    damaged_ = loaded.damaged;
    const auto warn = [this](const std::string& w) { trouble_ += (trouble_.empty() ? "" : "; ") + w; };
    for (const std::string& w : loaded.warnings) warn(w);
    for (const task_record& stored : loaded.tasks) {
        if (stored.task.name == settings_name) {
            table_.pause(stored.task.body.starts_with("paused "));
            const std::string number = stored.task.body.substr(stored.task.body.find(' ') + 1);
            table_.restore_generation(std::strtoull(number.c_str(), nullptr, 10));
            continue;
        }
        auto record = from_task_record(stored);
        if (!record) {
            damaged_ = true;
            warn("the record of \"" + stored.task.name + "\" is not that of a durable task; it stays as it is");
            continue;
        }
        const std::string id = record->task.id;
        const durable_state before = record->task.state;
        table_.restore(now, std::move(*record));
        // Without these, the next open() would do the same again: so a failure here does no harm.
        try {
            const task_table::record* now_stored = table_.find(id);
            if (now_stored == nullptr)
                with_storage([&](task_storage& s) { s.erase("t" + id); });
            else if (now_stored->task.state == durable_state::dead && before != durable_state::dead)
                with_storage([&](task_storage& s) { s.save(to_task_record(*now_stored)); });
        } catch (...) {
            warn("a task that ended by the restart cannot be stored: " + failed().message());
        }
    }
    table_.note_changes();
    return aborted();
}

asio::awaitable<error_code> journal_store::open() {
    error_code ec;
    try {
        ec = load();
    } catch (...) {
        ec = failed();
    }
    co_return ec;
}

awaitable_answer<std::vector<added_task>> journal_store::add(std::uint32_t, std::vector<new_task> tasks,
                                                             on_duplicate policy) {
    auto a = change([&] { return table_.add(now_(), std::move(tasks), policy); });
    co_return a;
}

// Does not wait for the storage to have room: an unstored end of a lease comes again at the next open().
awaitable_answer<claimed_tasks> journal_store::claim(std::uint32_t, std::int64_t horizon_ms, std::uint32_t n,
                                                     std::int64_t lease_ms, const retention_limits& limits) {
    answer<claimed_tasks> a;
    a.error = aborted();
    if (a.error) co_return a;
    table_.note_changes();
    try {
        a.value = table_.claim(now_(), horizon_ms, std::max(n, 1u), lease_ms, limits);
    } catch (...) {
        a.error = failed();
        undo_all();
        a.value = {};
        co_return a;
    }
    try {
        (void)keep();
    } catch (...) {
        (void)failed();
        std::vector<std::string> removed; // these come back: the storage has them
        for (const auto& [id, before] : table_.changed())
            if (before && table_.find(id) == nullptr) removed.push_back(id);
        for (const std::string& id : removed) table_.undo(id);
    }
    co_return a;
}

awaitable_answer<begun_tasks> journal_store::begin(std::int64_t lease_ms, std::uint32_t nonce,
                                                   std::span<const begin_request> requests) {
    const std::int64_t now = now_();
    auto a = change([&] {
        const auto begun = table_.begin(now, lease_ms, nonce, requests);
        return begun_tasks{now, {begun.begin(), begun.end()}};
    });
    if (a.error) a.value.tasks.resize(requests.size());
    co_return a;
}

awaitable_answer<std::vector<std::optional<bool>>> journal_store::finish(const retention_limits& limits,
                                                                         std::span<const finish_request> requests) {
    auto a = change([&] {
        const auto taken = table_.finish(now_(), limits, requests);
        return std::vector<std::optional<bool>>(taken.begin(), taken.end());
    });
    if (a.error) a.value.resize(requests.size());
    co_return a;
}

awaitable_answer<std::vector<extended>> journal_store::extend(std::uint32_t, std::int64_t lease_ms,
                                                              std::vector<attempt_ref> attempts) {
    answer<std::vector<extended>> a;
    a.error = aborted();
    if (a.error) co_return a;
    a.value = table_.extend(now_(), lease_ms, attempts);
    co_return a;
}

awaitable_answer<removal> journal_store::cancel(std::string id) {
    auto a = change([&] { return table_.cancel(id); });
    co_return a;
}

awaitable_answer<removal> journal_store::reschedule(std::string id, std::int64_t due, bool relative, added_task& now) {
    auto moved = change([&] { return table_.reschedule(now_(), id, due, relative); });
    now = moved.value.now;
    answer<removal> a{moved.error, moved.value.result};
    co_return a;
}

awaitable_answer<removal> journal_store::hold(std::string id, bool held) {
    auto a = change([&] { return table_.hold(now_(), id, held); });
    co_return a;
}

awaitable_answer<stored_task> journal_store::find(std::string id) {
    answer<stored_task> a;
    a.error = aborted();
    if (a.error) co_return a;
    if (const task_table::record* r = table_.find(id))
        a.value = r->task;
    else
        a.error = durable_errc::no_such_task;
    co_return a;
}

awaitable_answer<stored_page> journal_store::list(std::string cursor, std::uint32_t n) {
    answer<stored_page> a;
    a.error = aborted();
    if (a.error) co_return a;
    a.value = table_.list(cursor, std::max(n, 1u));
    co_return a;
}

awaitable_answer<stored_page> journal_store::dead(std::string cursor, std::uint32_t n) {
    answer<stored_page> a;
    a.error = aborted();
    if (a.error) co_return a;
    // As task_table::dead() makes it.
    const auto colon = cursor.find(':');
    if (!cursor.empty() && (colon == 0 || colon == cursor.npos || cursor.find_first_not_of("0123456789") != colon)) {
        a.error = durable_errc::bad_cursor;
        co_return a;
    }
    a.value = table_.dead(cursor, std::max(n, 1u));
    co_return a;
}

awaitable_answer<bool> journal_store::redrive(std::string id) {
    auto a = change([&] { return table_.redrive(now_(), id); });
    co_return a;
}

awaitable_answer<bool> journal_store::purge(std::string id) {
    auto a = change([&] { return table_.purge(id); });
    co_return a;
}

asio::awaitable<error_code> journal_store::pause(bool paused) {
    error_code ec;
    try {
        with_storage([&](task_storage& s) { s.save(settings_record(paused, table_.last_generation())); });
        if (table_.pause(paused) && !paused) wake(task_table::wake_hint::soon);
    } catch (...) {
        ec = failed();
    }
    co_return ec;
}

awaitable_answer<shard_counts> journal_store::counts(std::uint32_t) {
    answer<shard_counts> a;
    a.error = aborted();
    if (a.error) co_return a;
    a.value = table_.counts(now_());
    co_return a;
}

awaitable_answer<audit_step> journal_store::audit(std::uint32_t, std::string, std::uint32_t) {
    answer<audit_step> a;
    a.error = aborted();
    if (a.error) co_return a;
    a.value.seen = table_.records().size(); // all places follow from the records
    co_return a;
}

awaitable_answer<live_workers> journal_store::heartbeat(std::string worker, std::int64_t ttl_ms) {
    answer<live_workers> a;
    a.error = aborted();
    if (a.error) co_return a;
    a.value.now_us = now_();
    const std::int64_t ms = a.value.now_us / 1000;
    bool changed = workers_.insert_or_assign(std::move(worker), ms).second;
    // The clock may have been set back: what lies that far ahead lived before.
    const auto ended = [&](const auto& w) { return w.second < ms - ttl_ms || w.second > ms + ttl_ms; };
    changed = std::erase_if(workers_, ended) > 0 || changed;
    if (changed) workers_changed();
    tell([](const hints& h) {
        if (h.on_alive) h.on_alive();
    });
    for (const auto& [name, last] : workers_) a.value.names.push_back(name);
    co_return a;
}

asio::awaitable<error_code> journal_store::retire(std::string worker) {
    const error_code closed = aborted();
    if (closed) co_return closed;
    if (workers_.erase(worker) > 0) workers_changed();
    co_return error_code();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
