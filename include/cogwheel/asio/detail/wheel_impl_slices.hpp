// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a wheel does in slices, so that no caller holds the lock for long: trim, census, and the list of all timers.
// wheel_impl.hpp includes this file.
#pragma once

#include <cogwheel/asio/detail/wheel_impl.hpp>

namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO {

template <class Clock, class Locking, timing_wheel Wheel>
bool wheel_impl<Clock, Locking, Wheel>::trim(trim_cursor& cursor) {
    const guard lock(mutex_);
    if (cursor_access::done(cursor)) return false;
    if (!std::exchange(cursor_access::begun(cursor), true) && this->is_behind()) {
        cursor_access::position(cursor).next = trim_position::phase::refused;
        return false;
    }
    work_budget budget = trim_at_a_time;
    if (!cursor_access::waits(cursor)) {
        if constexpr (requires(Wheel& w, trim_position& at) { w.trim(at, budget); }) {
            trim_position& at = cursor_access::position(cursor);
            if (wheel_->trim(at, budget)) return true;
            if (!at.done()) return false;
        } else if (!wheel_->trim()) {
            return false;
        }
        this->waits.begin_trim();
        cursor_access::waits(cursor) = true;
    }
    cursor_access::done(cursor) = !this->waits.trim(budget);
    return !cursor_access::done(cursor);
}

/// Gives the census its groups of slots, if the cursor asks for them.
template <class Clock, class Locking, timing_wheel Wheel>
void wheel_impl<Clock, Locking, Wheel>::prepare_groups(snapshot_cursor& cursor) {
    const std::size_t most = cursor_access::most_groups(cursor);
    level_census& census = cursor_access::census(cursor);
    auto& groups = cursor_access::groups(cursor);
    if (most == 0) return;
    if (cursor_access::slot(cursor) == 0) {
        engine::count_slots(cursor_access::level(cursor), 0, 0, census);
        const auto needed = [&] {
            return (census.slots + (std::uint64_t{1} << census.group_bits) - 1) >> census.group_bits;
        };
        while (needed() > most) ++census.group_bits;
        groups.assign(static_cast<std::size_t>(needed()), 0);
    }
    census.groups = groups.data(); // the cursor may have been moved
}

template <class Clock, class Locking, timing_wheel Wheel>
bool wheel_impl<Clock, Locking, Wheel>::snapshot(snapshot_cursor& cursor, wheel_snapshot& s) {
    if (!cursor_access::counted(cursor)) {
        read(s);
        cursor_access::counted(cursor) = true;
    }
    const guard lock(mutex_);
    s.levels.reserve(engine::levels()); // so that nothing fails half-way through a level
    std::size_t& level = cursor_access::level(cursor);
    std::size_t& slot = cursor_access::slot(cursor);
    for (std::size_t room = slots_at_a_time; level < engine::levels(); ++level, slot = 0) {
        level_census& census = cursor_access::census(cursor);
        prepare_groups(cursor);
        if (room == 0 || engine::count_slots(level, slot, room, census)) {
            slot += room;
            return true;
        }
        const std::size_t counted = static_cast<std::size_t>(census.slots) - slot;
        room -= counted < room ? counted : room;
        s.levels.push_back(engine::level_of(census));
        s.levels.back().groups = std::exchange(cursor_access::groups(cursor), {});
        census = {};
    }
    return false;
}

template <class Clock, class Locking, timing_wheel Wheel>
template <class Visitor>
bool wheel_impl<Clock, Locking, Wheel>::for_each_pending(pending_cursor& cursor, Visitor& visit) {
    struct found_timer {
        time_point expiry;
        timer_id id;
    };
    std::array<found_timer, nodes_at_a_time> found;
    std::size_t n = 0;
    bool more = false;
    {
        const guard lock(mutex_);
        more = nodes.for_each_from(cursor_access::next(cursor), nodes_at_a_time, [&](const timer_node& node) {
            if (node.armed()) found[n++] = {this->start_of(node.deadline()), node.id()};
        });
    }
    for (std::size_t i = 0; i < n; ++i) { // without the lock: it is the user's code
        if constexpr (std::invocable<Visitor&, time_point, token_type>)
            visit(found[i].expiry, token_type(*this, found[i].id));
        else
            visit(found[i].expiry);
    }
    return more;
}

} // namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO
