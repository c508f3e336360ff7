// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One shard of durable tasks in memory: what the scripts do in a server, with the time as an argument. journal_store
// keeps its tasks in it, and a test compares the scripts with it, step by step. No clock, no I/O.
//
// Complexity: O(log tasks) for each task that a call names or takes, unless noted.
#pragma once

#include "task_store.hpp"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class task_table {
public:
    /// A wake hint is due if a task comes that is due within idle_window milliseconds: `soon` within wake_window, else
    /// `later`. Not if an unclaimed task is due before it.
    static constexpr std::int64_t wake_window = 500, idle_window = most_idle + wake_window;
    enum class wake_hint : std::uint8_t { none, later, soon };
    /// A claim takes no further task once the envelopes have more bytes; half of it for leases that have run out.
    static constexpr std::size_t claim_bytes = std::size_t{4} << 20;

    struct record {
        stored_task task;
        // waiting, running: the score of task_store.hpp; done, dead: since when, in ms
        std::int64_t place = 0;
        std::uint32_t begun_by = 0; // the nonce of the last begin
    };
    /// The state before a change; nothing: there was no such task.
    using changes = std::map<std::string, std::optional<record>, std::less<>>;
    struct moved {
        removal result = removal::not_found;
        added_task now{};
    };

    // As the functions of task_store. now_us: microseconds since 1970.
    std::vector<added_task> add(std::int64_t now_us, std::vector<new_task>, on_duplicate);
    claimed_tasks claim(std::int64_t now_us, std::int64_t horizon_ms, std::uint32_t n, std::int64_t lease_ms,
                        const retention_limits&);
    std::vector<begun_task> begin(std::int64_t now_us, std::int64_t lease_ms, std::uint32_t nonce,
                                  std::span<const begin_request>);
    std::vector<bool> finish(std::int64_t now_us, const retention_limits&, std::span<const finish_request>);
    std::vector<extended> extend(std::int64_t now_us, std::int64_t lease_ms, const std::vector<attempt_ref>&);
    removal cancel(std::string_view id);
    moved reschedule(std::int64_t now_us, std::string_view id, std::int64_t due, bool relative);
    removal hold(std::int64_t now_us, std::string_view id, bool held);
    const record* find(std::string_view id) const;
    /// Complexity: O(log tasks + n). The cursor is an id.
    stored_page list(std::string_view cursor, std::uint32_t n) const;
    stored_page dead(std::string_view cursor, std::uint32_t n) const;
    bool redrive(std::int64_t now_us, std::string_view id);
    bool purge(std::string_view id);
    /// Returns whether this changed the table.
    bool pause(bool paused);
    /// Complexity: O(tasks).
    shard_counts counts(std::int64_t now_us) const;

    /// Puts a record back that was stored before the process died. Its lease is void: a running task waits again, is
    /// dead if its attempts are used up, or is gone if cancelled.
    void restore(std::int64_t now_us, record);
    void restore_generation(std::uint64_t last) noexcept { last_gen_ = std::max(last_gen_, last); }

    /// Begins to note what changes. A claim of a waiting task, or its release, changes nothing that must survive.
    void note_changes() { changes_.clear(), came_ = comes_back_ = held_place; }
    const changes& changed() const noexcept { return changes_; }
    /// Takes the change of one task back.
    void undo(const std::string& id);
    /// Returns the hint for what has changed since note_changes().
    wake_hint wake(std::int64_t now_us) const noexcept;

    bool paused() const noexcept { return paused_; }
    std::uint64_t last_generation() const noexcept { return last_gen_; }
    const std::map<std::string, record, std::less<>>& records() const noexcept { return records_; }

private:
    using order = std::set<std::pair<std::int64_t, std::string_view>>; // ids of records_

    order& order_of(durable_state) noexcept;
    void note(const std::string& id);
    void store(record);
    void drop(std::string_view id);
    void place(record&, std::int64_t);
    record* sound(std::string_view id, std::uint64_t generation);
    std::uint64_t next_gen(std::int64_t now_us) noexcept;
    void came(std::int64_t due) noexcept { came_ = std::min(due, came_); }
    std::int64_t next_claim(std::int64_t ms, std::int64_t horizon_ms) const noexcept;
    void lease_ran_out(std::int64_t now_us, record);
    begun_task recur(std::int64_t now_us, std::int64_t lease_ms, std::uint32_t nonce, const begin_request&,
                     const record& parent);
    begun_task begun_before(std::int64_t leased, std::uint32_t nonce, const begin_request&);
    bool finish_one(std::int64_t now_us, const retention_limits&, const finish_request&, std::size_t& done,
                    std::size_t& dead);
    /// Returns how many it removed.
    std::size_t trim(order&, std::int64_t now_us, std::size_t most_now, std::int64_t age, std::uint32_t most);

    std::map<std::string, record, std::less<>> records_;
    order due_, done_, dead_;
    std::uint64_t last_gen_ = 0;
    bool paused_ = false;
    std::int64_t came_ = held_place;       // the earliest due time of what came, and is not claimed
    std::int64_t comes_back_ = held_place; // the first end of what was given back with a delay
    changes changes_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
