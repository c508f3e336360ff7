// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The metrics of a wheel, with the idle monitors and requests on it.
#include "metric_tables.hpp"

#include <cogwheel/net/idle_timeouts.hpp>

#include <array>
#include <cmath>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

using enum metric_type;
using sample = wheel_sample;
using sink = metric_sink;

double in_seconds(std::chrono::nanoseconds d) noexcept { return static_cast<double>(d.count()) / 1e9; }

// Only a counted_wheel counts its entries; it has at least one level.
bool has_entries(const sample& s) noexcept { return !s.wheel.levels.empty(); }

template <class Member>
void by_kind(const sample& s, sink& to, Member member) {
    for (std::size_t k = 0; k < timer_kinds; ++k)
        to.value("kind", to_string(static_cast<timer_kind>(k)), std::uint64_t{member(s.wheel.kinds[k])});
}
template <class Member>
void by_level(const sample& s, sink& to, Member member) {
    for (std::size_t l = 0; l < s.wheel.levels.size(); ++l) {
        const std::string level = std::to_string(l);
        to.value("level", level, member(s.wheel.levels[l]));
    }
}

constexpr std::array<metric<sample>, 33> metrics{{
    {{"cogwheel_timers_pending", gauge, "wheel,kind", "Timers that are pending."},
     [](const sample& s, sink& to) { by_kind(s, to, [](const timer_counts& k) { return k.pending(); }); }},
    {{"cogwheel_timers_scheduled_total", counter, "wheel,kind", "Timers that the wheel accepted."},
     [](const sample& s, sink& to) { by_kind(s, to, [](const timer_counts& k) { return k.scheduled; }); }},
    {{"cogwheel_timers_fired_total", counter, "wheel,kind",
      "Timers that fired. Of kind timeout: timeouts that passed; few of their operations still succeed."},
     [](const sample& s, sink& to) { by_kind(s, to, [](const timer_counts& k) { return k.fired; }); }},
    {{"cogwheel_timers_cancelled_total", counter, "wheel,kind",
      "Timers disarmed before they fired. Of kind timeout: operations that ended in time."},
     [](const sample& s, sink& to) { by_kind(s, to, [](const timer_counts& k) { return k.cancelled; }); }},
    {{"cogwheel_timers_rejected_total", counter, "wheel",
      "Timers that the wheel refused: over max_pending, or after stop()."},
     [](const sample& s, sink& to) { to.value(s.wheel.rejected); }},
    {{"cogwheel_timers_due", gauge, "wheel",
      "Timers that are due and have not fired yet, counted up to about 32,000. Includes some that were cancelled or "
      "moved."},
     [](const sample& s, sink& to) {
         if (has_entries(s)) to.value(s.wheel.due);
     }},
    {{"cogwheel_timer_take_overs_total", counter, "wheel",
      "Timers that took over the entry of an ended timer. Only of an observed_wheel."},
     [](const sample& s, sink& to) {
         if (s.wheel.take_overs) to.value(*s.wheel.take_overs);
     }},
    {{"cogwheel_timer_lateness_seconds", histogram, "wheel",
      "Time from the start of the tick at which a timer was due to the turn that fired it."},
     [](const sample& s, sink& to) { to.histogram(s.wheel.lateness.histogram); }},
    {{"cogwheel_timer_lateness_max_seconds", gauge, "wheel", "The largest lateness since the wheel was made."},
     [](const sample& s, sink& to) { to.value(in_seconds(s.wheel.lateness.max)); }},
    {{"cogwheel_turns_total", counter, "wheel", "Turns of the wheel."},
     [](const sample& s, sink& to) { to.value(s.wheel.turns); }},
    {{"cogwheel_exhausted_turns_total", counter, "wheel",
      "Turns that used up work_per_turn and left work to the next turn."},
     [](const sample& s, sink& to) { to.value(s.wheel.exhausted_turns); }},
    {{"cogwheel_turn_duration_seconds", histogram, "wheel",
      "How long the turns took, with all handlers that ran inside them."},
     [](const sample& s, sink& to) { to.histogram(s.wheel.turn_duration); }},
    {{"cogwheel_turn_duration_max_seconds", gauge, "wheel", "The longest turn since the wheel was made."},
     [](const sample& s, sink& to) { to.value(in_seconds(s.wheel.turn_duration.max())); }},
    {{"cogwheel_turn_timers_max", gauge, "wheel", "The largest number of timers that fired in one turn."},
     [](const sample& s, sink& to) { to.value(s.wheel.largest_turn); }},
    {{"cogwheel_wakeups_total", counter, "wheel", "Expiries of the one Asio timer that drives the wheel."},
     [](const sample& s, sink& to) { to.value(s.wheel.wakeups); }},
    {{"cogwheel_empty_wakeups_total", counter, "wheel", "Wake-ups that found no timer to fire."},
     [](const sample& s, sink& to) { to.value(s.wheel.empty_wakeups); }},
    {{"cogwheel_next_due_seconds", gauge, "wheel",
      "Time to the next wake-up. 0: a turn is about to come, or late. NaN: no timer is pending."},
     [](const sample& s, sink& to) { to.value(s.wheel.next_due ? in_seconds(*s.wheel.next_due) : std::nan("")); }},
    {{"cogwheel_entries", gauge, "wheel,state",
      "Entries in the slots: one for each pending timer (live), and those that no timer needs any more (dead)."},
     [](const sample& s, sink& to) {
         if (!has_entries(s)) return;
         to.value("state", "live", s.wheel.entries - s.wheel.dead_entries);
         to.value("state", "dead", s.wheel.dead_entries);
     }},
    {{"cogwheel_sweeps_total", counter, "wheel", "Steps that removed dead entries."},
     [](const sample& s, sink& to) {
         if (has_entries(s)) to.value(s.wheel.sweeps);
     }},
    {{"cogwheel_memory_bytes", gauge, "wheel", "Memory of the wheel and of its pools of timers."},
     [](const sample& s, sink& to) {
         if (has_entries(s)) to.value(s.wheel.bytes);
     }},
    {{"cogwheel_slot_seconds", gauge, "wheel,level", "The length of a slot. Level 0 is the finest one."},
     [](const sample& s, sink& to) { by_level(s, to, [](const level_stats& l) { return in_seconds(l.slot); }); }},
    {{"cogwheel_slots", gauge, "wheel,level", "Slots. 0: the level has had no entry yet."},
     [](const sample& s, sink& to) { by_level(s, to, [](const level_stats& l) { return l.slots; }); }},
    {{"cogwheel_slots_occupied", gauge, "wheel,level", "Slots that hold an entry."},
     [](const sample& s, sink& to) { by_level(s, to, [](const level_stats& l) { return l.occupied_slots; }); }},
    {{"cogwheel_slot_entries_max", gauge, "wheel,level", "Entries in the slot that holds most."},
     [](const sample& s, sink& to) { by_level(s, to, [](const level_stats& l) { return l.fullest_slot; }); }},
    {{"cogwheel_level_entries", gauge, "wheel,level", "Entries of a level: its timers, and dead entries."},
     [](const sample& s, sink& to) { by_level(s, to, [](const level_stats& l) { return l.entries; }); }},
    {{"cogwheel_cascades_total", counter, "wheel,level",
      "Slots of a level whose entries have moved to the levels below."},
     [](const sample& s, sink& to) { by_level(s, to, [](const level_stats& l) { return l.cascades; }); }},
    {{"cogwheel_idle_monitors", gauge, "wheel", "Idle monitors that exist, also those inside an idle_stream."},
     [](const sample& s, sink& to) {
         if (s.idle) to.value(s.idle->monitors);
     }},
    {{"cogwheel_idle_events_total", counter, "wheel,kind", "Reports that a connection was idle."},
     [](const sample& s, sink& to) {
         if (!s.idle) return;
         to.value("kind", to_string(idle_kind::reader), s.idle->reader);
         to.value("kind", to_string(idle_kind::writer), s.idle->writer);
         to.value("kind", to_string(idle_kind::all), s.idle->all);
         to.value("kind", to_string(idle_kind::ping), s.idle->ping);
     }},
    {{"cogwheel_wheel_requests_in_flight", gauge, "wheel", "Requests of all pending_requests on the wheel."},
     [](const sample& s, sink& to) {
         if (s.requests) to.value(std::uint64_t{s.requests->in_flight});
     }},
    {{"cogwheel_wheel_requests_started_total", counter, "wheel", "Requests that have started."},
     [](const sample& s, sink& to) {
         if (s.requests) to.value(s.requests->started);
     }},
    {{"cogwheel_wheel_requests_ended_total", counter, "wheel,outcome", "Requests that have ended."},
     [](const sample& s, sink& to) {
         if (!s.requests) return;
         to.value("outcome", "answered", s.requests->answered);
         to.value("outcome", "timed_out", s.requests->timed_out);
         to.value("outcome", "failed", s.requests->failed);
         to.value("outcome", "cancelled", s.requests->cancelled);
     }},
    {{"cogwheel_wheel_requests_refused_total", counter, "wheel", "Requests that were not started."},
     [](const sample& s, sink& to) {
         if (s.requests) to.value(s.requests->refused);
     }},
    {{"cogwheel_wheel_answers_late_total", counter, "wheel", "Answers to requests that had ended or never started."},
     [](const sample& s, sink& to) {
         if (s.requests) to.value(s.requests->late);
     }},
}};

} // namespace

template <>
metric_table<wheel_sample> table_of() noexcept {
    return {"wheel", "wheels", metrics};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
