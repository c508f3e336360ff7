// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks on their way into the table. First their places and timers, which may be refused; then the caller writes them down, which may fail;
// the rest cannot. Until then all is as before, as the lock is held: a timer that expires meanwhile waits for it, and finds itself disarmed
// if the task did not come.
#pragma once

#include <cogwheel/schedule/detail/task_core.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

namespace cogwheel::detail {

class task_core::arrivals {
public:
    explicit arrivals(task_core& core) noexcept : core_(core) {}
    arrivals(const arrivals&) = delete;
    arrivals& operator=(const arrivals&) = delete;
    /// Those that have not settled go.
    ~arrivals() {
        while (!all_.empty()) leave();
    }

    /// What the wheel refuses. Refused, or thrown: this one is not among them.
    std::error_code admit(const entry_ptr& entry) {
        all_.reserve(all_.size() + 1);
        const auto place = core_.tasks_.try_emplace(entry->spec.name);
        all_.push_back({entry, &place.first->second, place.second});
        COGWHEEL_TRY {
            const std::error_code refused = core_.arm(*entry, false);
            if (refused) leave();
            return refused;
        }
        COGWHEEL_CATCH {
            leave();
            COGWHEEL_RETHROW;
        }
    }

    /// They take their places; who had them goes.
    void settle(section& s) {
        for (const arrival& a : std::exchange(all_, {})) {
            const entry_ptr old = std::exchange(*a.place, a.entry);
            if (old != nullptr) {
                if (core_.written_down(*old) && !core_.written_down(*a.entry)) core_.erase(*old);
                core_.remove(s, old);
            }
            core_.notify(task_event::kind::added, a.entry->spec.name, 0, {});
        }
    }

private:
    struct arrival {
        entry_ptr entry;
        entry_ptr* place; // in the table, whose elements stay where they are
        bool fresh;       // it was made for this one
    };

    void leave() noexcept {
        const arrival& last = all_.back();
        core_.disarm(*last.entry);
        if (last.fresh) core_.tasks_.erase(core_.tasks_.find(last.entry->spec.name));
        all_.pop_back();
    }

    task_core& core_;
    std::vector<arrival> all_;
};

} // namespace cogwheel::detail
