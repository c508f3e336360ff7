// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Durable tasks of one process: a table in memory, and a storage (task_journal) that holds each change before the
// answer.
//
// - A claim is not stored: the lease of a process that died is void. At open(), a task that was running waits again at
//   once, or is dead if its attempts are used up.
// - If the storage fails, the table stays as it was, and the answer is the storage's error. A change of several tasks
//   whose removals fail may be made in part: the answer is an error, and the table is what the storage holds.
// - Unlike a server, the storage serves one process: heartbeat() knows the workers of this store only.
#pragma once

#include "task_table.hpp"

#include <cogwheel/tasks/task_storage.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)

#include <atomic>
#include <memory>
#include <mutex>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class journal_store final : public task_store {
public:
    using clock = std::function<std::int64_t()>; // microseconds since 1970

    /// executor: the strand of all calls. Lifetime: the storage lives until close() returns; the store
    /// outlives its calls.
    journal_store(asio::any_io_executor executor, task_storage& storage, clock now = {});

    std::uint32_t shards() const noexcept override { return 1; }
    asio::awaitable<error_code> open() override;
    /// After this, each call answers operation_aborted, and the storage is not used. Waits for the access under way.
    void close() noexcept override;
    bool closes_on_any_thread() const noexcept override { return true; }
    std::string trouble() const override { return trouble_; }
    std::string damage() const override { return damaged_ ? trouble_ : std::string(); }

    awaitable_answer<std::vector<added_task>> add(std::uint32_t shard, std::vector<new_task>, on_duplicate) override;
    awaitable_answer<claimed_tasks> claim(std::uint32_t shard, std::int64_t horizon_ms, std::uint32_t n,
                                          std::int64_t lease_ms, const retention_limits&) override;
    awaitable_answer<begun_tasks> begin(std::int64_t lease_ms, std::uint32_t nonce,
                                        std::span<const begin_request>) override;
    awaitable_answer<std::vector<std::optional<bool>>> finish(const retention_limits&,
                                                              std::span<const finish_request>) override;
    awaitable_answer<std::vector<extended>> extend(std::uint32_t shard, std::int64_t lease_ms,
                                                   std::vector<attempt_ref>) override;
    awaitable_answer<removal> cancel(std::string id) override;
    awaitable_answer<removal> reschedule(std::string id, std::int64_t due, bool relative, added_task& now) override;
    awaitable_answer<removal> hold(std::string id, bool held) override;
    awaitable_answer<stored_task> find(std::string id) override;
    awaitable_answer<stored_page> list(std::string cursor, std::uint32_t n) override;
    awaitable_answer<stored_page> dead(std::string cursor, std::uint32_t n) override;
    awaitable_answer<bool> redrive(std::string id) override;
    awaitable_answer<bool> purge(std::string id) override;
    asio::awaitable<error_code> pause(bool paused) override;
    awaitable_answer<shard_counts> counts(std::uint32_t shard) override;
    awaitable_answer<audit_step> audit(std::uint32_t shard, std::string cursor, std::uint32_t n) override;
    awaitable_answer<live_workers> heartbeat(std::string worker, std::int64_t ttl_ms) override;
    asio::awaitable<error_code> retire(std::string worker) override;
    void listen(hints) override;

    const task_table& table() const noexcept { return table_; }

private:
    template <class F>
    auto change(F f) -> answer<decltype(f())>;
    template <class F>
    auto with_storage(F f);
    error_code aborted() const;
    error_code load();
    error_code keep();
    error_code failed();
    void undo_all();
    void wake(task_table::wake_hint);
    template <class Call>
    void tell(Call);
    void workers_changed();

    asio::any_io_executor executor_;
    task_storage* storage_;
    std::recursive_mutex storage_mutex_; // recursive: a storage may close the queue
    std::atomic<bool> closed_{false};
    clock now_;
    task_table table_;
    std::string trouble_;
    bool damaged_ = false;
    std::map<std::string, std::int64_t> workers_; // when each one lived last, ms
    std::shared_ptr<hints> hints_;
};

/// The record of a task in a storage, and back.
task_record to_task_record(const task_table::record&);
/// Returns nothing if the record is not of a durable task, or damaged.
std::optional<task_table::record> from_task_record(const task_record&);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
