// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Adds tasks to the table in three steps. First, admit() gives each its place and its timer; the wheel may refuse.
// Second, the caller stores the tasks; the storage may fail. Third, settle() completes the change; it cannot fail. The
// lock is held throughout: a timer that expires meanwhile waits for the lock. If the task was not added, that timer is
// disarmed by then.
#pragma once

#include "task_scheduler_impl.hpp"

#include <cogwheel/detail/exceptions.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class task_scheduler_impl::new_tasks {
public:
    explicit new_tasks(task_scheduler_impl& impl) noexcept : impl_(impl) {}
    new_tasks(const new_tasks&) = delete;
    new_tasks& operator=(const new_tasks&) = delete;
    /// Removes the tasks that have not settled.
    ~new_tasks() {
        while (!all_.empty()) leave();
    }

    /// Gives a task its place and its timer. Returns why the wheel refuses it, or success. If it returns an error or
    /// throws, it has not taken this task.
    error_code admit(const entry_ptr& entry) {
        if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 1);
        const auto place = impl_.tasks_.try_emplace(entry->spec.name);
        all_.push_back({entry, &place.first->second, place.second});
        COGWHEEL_TRY {
            const error_code refused = impl_.arm(*entry, false);
            if (refused) leave();
            return refused;
        }
        COGWHEEL_CATCH {
            leave();
            COGWHEEL_RETHROW;
        }
    }

    /// Puts the tasks into their places, and removes the old tasks there.
    void settle(locked_scope& s) {
        for (const arrival& a : std::exchange(all_, {})) {
            const entry_ptr old = std::exchange(*a.place, a.entry);
            if (old != nullptr) {
                if (impl_.recorder_.keeps(*old) && !impl_.recorder_.keeps(*a.entry)) impl_.recorder_.erase(*old);
                impl_.remove(s, old);
            }
            if (impl_.idle_.erase(a.entry->spec.name) != 0 && !impl_.recorder_.keeps(*a.entry))
                impl_.recorder_.erase(a.entry->spec.name);
            impl_.recorder_.notify(task_event::kind::added, a.entry->spec.name, {});
        }
    }

private:
    struct arrival {
        entry_ptr entry;
        entry_ptr* place; // in the table, whose elements do not move
        bool fresh;       // the place was made for this task
    };

    void leave() noexcept {
        const arrival& last = all_.back();
        impl_.disarm(*last.entry);
        if (last.fresh) impl_.tasks_.erase(impl_.tasks_.find(last.entry->spec.name));
        all_.pop_back();
    }

    task_scheduler_impl& impl_;
    std::vector<arrival> all_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
