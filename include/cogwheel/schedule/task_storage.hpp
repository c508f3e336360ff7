// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a task scheduler writes down its tasks, so that recover() finds them again: in memory here, in a file in task_journal.hpp.
#pragma once

#include <cogwheel/schedule/task_record.hpp>

#include <map>
#include <span>

namespace cogwheel {

/// What a storage has to do. The scheduler calls it under its lock, one call at a time and in the order in which things happened; it
/// must not call the scheduler. Whatever it throws refuses the change (add), or fails the attempt that was to begin.
class task_storage {
public:
    struct contents {
        std::vector<task_record> tasks;
        std::vector<std::string> warnings; ///< what could not be read, in words
    };

    virtual ~task_storage() = default;

    /// The task of this name is now as this record says.
    virtual void save(const task_record&) = 0;
    /// The same of many, all or none of them.
    virtual void save_all(std::span<const task_record>) = 0;
    /// There is no task of this name any more. Unknown names are nothing special.
    virtual void erase(std::string_view name) = 0;
    virtual contents load() = 0;
};

/// Keeps them for another scheduler of the same process, and for tests.
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

} // namespace cogwheel
