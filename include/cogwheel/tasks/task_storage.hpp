// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a task scheduler stores its tasks, so that recover() can continue them. memory_storage keeps them in memory,
// task_journal (task_journal.hpp) in a file.
#pragma once

#include <cogwheel/tasks/task.hpp>

#include <map>
#include <span>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A stored run that has not ended.
struct task_run_record {
    task_trigger::wall_point scheduled{};               ///< when the run was due
    std::uint32_t attempt = 0;                          ///< 1, 2 ...; 0: the run waits for the run before it
    std::optional<task_trigger::wall_point> retry_at{}; ///< when that attempt is due; none: it had begun, or is 0

    friend bool operator==(const task_run_record&, const task_run_record&) = default;
};

/// A stored task: all that a scheduler needs to continue it, except the job, which it finds by its name.
struct task_record {
    cogwheel::task task;
    std::int64_t runs_left = 0;
    /// When the next run was due, if there was one, as the record was stored. A run that comes due and does not begin
    /// stores nothing.
    std::optional<task_trigger::wall_point> next{};
    std::vector<task_run_record> runs{};
    bool paused = false;
    std::string result{}; ///< of the last attempt that had one
};

/// The interface of a storage. The scheduler calls it under its lock, one call at a time, in the order of the changes.
/// Preconditions: a storage does not call the scheduler.
/// Errors: any exception. add() and add_all() pass on those of save() and save_all(), and add nothing; recover() passes
///   on those of load(). The observer learns of all others (task_event::unrecorded). An attempt whose start cannot be
///   saved does not begin; it is put off (task_scheduler_options::storage_pause).
class task_storage {
public:
    struct contents {
        std::vector<task_record> tasks;
        std::vector<std::string> warnings; ///< in words, such as what the storage could not read
        bool damaged = false;              ///< tasks are lost, or are as they were before
    };

    virtual ~task_storage() = default;

    /// Stores a record. It replaces a record with the same name.
    virtual void save(const task_record&) = 0;
    /// Stores all of the records, or none.
    virtual void save_all(std::span<const task_record>) = 0;
    /// Removes the record of this name. Does nothing for an unknown name.
    virtual void erase(std::string_view name) = 0;
    virtual contents load() = 0;
};

/// Stores tasks in memory: for a later scheduler in the same process, and for tests.
///
///     cogwheel::memory_storage storage;
///     cogwheel::task_scheduler tasks(wheel, {.storage = &storage});
class memory_storage final : public task_storage {
public:
    void save(const task_record&) override;
    void save_all(std::span<const task_record>) override;
    void erase(std::string_view name) override;
    contents load() override;

    std::size_t size() const noexcept { return tasks_.size(); }

private:
    std::map<std::string, task_record, std::less<>> tasks_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
