// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reports changes of tasks to the storage and the observer.
#pragma once

#include "task_entry.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Writes records and sends events.
/// Thread safety: under the scheduler's lock. Lifetime: the pointer `wheel` outlives it, and may change.
class task_recorder {
public:
    task_recorder(const std::unique_ptr<task_wheel>& wheel, const task_scheduler_options& options) noexcept
        : wheel_(wheel), storage_(options.storage), observer_(options.observer) {}

    task_storage* storage() const noexcept { return storage_; }
    /// Forgets the storage and the observer: from here on, jobs under way may outlive them.
    void detach() noexcept {
        storage_ = nullptr;
        observer_ = nullptr;
    }

    /// Returns whether the storage keeps this task. A task with its own job ends with the process.
    bool keeps(const task_entry&) const noexcept;
    task_record record_of(const task_entry&) const;

    /// Stores the record of a task, unless it has ended or was cancelled. Returns the message of a failure, which it
    /// also sends to the observer.
    std::string save(const task_entry&) noexcept;
    void erase(const task_entry&) noexcept;
    /// The same by name. Preconditions: there is a storage.
    void erase(const std::string& name) noexcept;
    void notify(task_event::kind, const std::string& name, const std::string& message,
                const active_run* = nullptr) noexcept;

private:
    const std::unique_ptr<task_wheel>& wheel_;
    task_storage* storage_;
    task_observer* observer_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
