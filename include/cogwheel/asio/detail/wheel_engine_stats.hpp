// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The engine's answers to those who watch it: its counts, and what its slots hold. All need the engine's lock.
// wheel_engine.hpp includes this file.
#pragma once

#include <cogwheel/asio/detail/wheel_engine.hpp>

namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO {

/// How many entries a look for due timers reads: about 30 us. So the lock is never held for long.
inline constexpr std::size_t look_for_due = 32'768;

/// Returns the time until a point since the origin; zero if that has passed.
template <class Clock, class Locking, timing_wheel Wheel>
std::chrono::nanoseconds wheel_engine<Clock, Locking, Wheel>::time_left(nanoseconds until) const noexcept {
    const nanoseconds now = present();
    return until > now ? until - now : nanoseconds::zero();
}

/// Returns how many timers are due at `at` or before, counted by their entries. Entries of cancelled timers are not
/// counted while the driver waits: it has looked at them, and no timer is due before its next wake-up.
template <class Clock, class Locking, timing_wheel Wheel>
std::uint64_t wheel_engine<Clock, Locking, Wheel>::due(tick at) const noexcept {
    if constexpr (counted_wheel<Wheel>) {
        const bool in_time = planned_ != never && at.value < planned_ && !turning_ && !turn_coming();
        if (in_time || wheel_->size() == 0) return 0;
        const std::size_t entries = wheel_->due(at, look_for_due);
        return entries < wheel_->size() ? entries : wheel_->size();
    }
    return 0;
}

template <class Clock, class Locking, timing_wheel Wheel>
lateness_histogram wheel_engine<Clock, Locking, Wheel>::stats(wheel_stats& s) {
    record_lateness();
    counts_.read(s, present());
    s.pending = wheel_->size();
    if (s.pending != 0 && (turning_ || turn_coming()))
        s.next_due = nanoseconds::zero();
    else if (s.pending != 0 && planned_ != never)
        s.next_due = time_left(time_.start_since_origin({planned_}));
    if constexpr (requires(const Wheel& w) { w.take_overs(); }) s.take_overs = wheel_->take_overs();
    if constexpr (counted_wheel<Wheel>) {
        s.due = due(time_.reached());
        s.entries = wheel_->entries();
        s.dead_entries = s.entries - s.pending;
        s.sweeps = wheel_->sweeps();
        s.bytes = wheel_->footprint() + nodes.footprint() + waits.footprint();
    }
    return counts_.quantiles();
}

template <class Clock, class Locking, timing_wheel Wheel>
std::size_t wheel_engine<Clock, Locking, Wheel>::levels() const noexcept {
    if constexpr (counted_wheel<Wheel>)
        return wheel_->levels();
    else
        return 0;
}

template <class Clock, class Locking, timing_wheel Wheel>
bool wheel_engine<Clock, Locking, Wheel>::count_slots(std::size_t level, std::size_t first, std::size_t count,
                                                      level_census& census) const noexcept {
    if constexpr (counted_wheel<Wheel>)
        return level < wheel_->levels() && wheel_->count_slots(level, first, count, census);
    else
        return false;
}

/// Returns how far ahead the slots of a level reach. Preconditions: level < levels().
template <class Clock, class Locking, timing_wheel Wheel>
std::chrono::nanoseconds wheel_engine<Clock, Locking, Wheel>::reach_of(std::size_t level) const noexcept {
    level_census census;
    count_slots(level, 0, 0, census);
    return time_.start_since_origin({census.reach});
}

template <class Clock, class Locking, timing_wheel Wheel>
level_stats wheel_engine<Clock, Locking, Wheel>::level_of(const level_census& census) const noexcept {
    return {.slot = time_.start_since_origin({census.slot_ticks}),
            .slots = census.slots,
            .occupied_slots = census.occupied,
            .fullest_slot = census.fullest,
            .entries = census.entries,
            .cascades = census.cascades,
            .hand = census.slots == 0 ? 0 : time_.reached().value / census.slot_ticks % census.slots};
}

/// Returns the counts and the slots, under one lock. Errors: std::bad_alloc.
template <class Clock, class Locking, timing_wheel Wheel>
wheel_snapshot wheel_engine<Clock, Locking, Wheel>::snapshot() {
    wheel_snapshot s;
    finish(s, stats(s));
    for (std::size_t level = 0; level < levels(); ++level) {
        level_census census;
        count_slots(level, 0, wheel_levels::max_slots, census);
        s.levels.push_back(level_of(census));
    }
    return s;
}

/// Returns what a report says of the last turn.
template <class Clock, class Locking, timing_wheel Wheel>
slow_turn wheel_engine<Clock, Locking, Wheel>::last_turn() const noexcept {
    const auto [took, fired] = counts_.last_turn();
    return {.took = took, .fired = fired, .waiting = due(wheel_->now()), .skipped = 0};
}

} // namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO
