// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See plan.hpp.
#include "plan.hpp"

#include "contenders/binding.hpp"
#include "contenders/core.hpp"
#include "contenders/floor.hpp"
#include "contenders/multimap.hpp"
#include "contenders/steady_timer.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

using any_thread = scheduled<cogwheel::timer_wheel>;
using one_thread = scheduled<cogwheel::local_timer_wheel>;
using any_thread_waits = awaited<cogwheel::timer_wheel>;
using one_thread_waits = awaited<cogwheel::local_timer_wheel>;

template <class C>
using churn = live_set_leg<C, churn_operation, order::random>;
template <class C>
using touch = live_set_leg<C, touch_operation, order::random>;
template <class C>
using request = live_set_leg<C, churn_operation, order::round_robin>;
template <class C>
using schedule = phase_leg<C, phase::schedule>;
template <class C>
using cancel = phase_leg<C, phase::cancel>;
template <class C>
using memory = phase_leg<C, phase::none>;

template <class C>
using fire_one_tick = fire_leg<C, 1>;
template <class C>
using fire_spread = fire_leg<C, 1000>;

template <template <class> class Leg, class... C>
std::vector<entrant> on() {
    return {{C::name, [](std::size_t timers) -> std::unique_ptr<leg> { return std::make_unique<Leg<C>>(timers); }}...};
}

} // namespace

std::vector<workload> all_workloads() {
    const std::size_t k = 1000, m = 1'000'000;
    const std::vector<std::size_t> ends{k, m}, sizes{k, 10 * k, 100 * k, m};
    return {
        {"request",
         "cancel the oldest of the live ones, schedule one at +30 s",
         {k},
         {k},
         5,
         9,
         on<request, floor_store, core, core_by_id, embedded_core, any_thread, one_thread, scheduled_with_now,
            steady_timer, multimap>()},
        {"churn", "cancel a random one, schedule one at +30 s", ends, sizes, 5, 9,
         on<churn, floor_store, core, core_by_id, embedded_core, any_thread, one_thread, scheduled_with_now,
            steady_timer, multimap>()},
        {"touch", "push a random one back to +30 s", ends, sizes, 5, 9,
         on<touch, floor_store, core, core_by_id, embedded_core, any_thread, one_thread, scheduled_with_now,
            steady_timer, multimap>()},
        {"fire_one_tick",
         "all expire within one millisecond, in random order of memory",
         {m},
         sizes,
         3,
         5,
         on<fire_one_tick, core, core_by_id, embedded_core, any_thread, one_thread, steady_timer, multimap>()},
        {"fire_spread",
         "all expire, at random within 1 s",
         {100 * k},
         {100 * k, m},
         3,
         5,
         on<fire_spread, core, core_by_id, embedded_core, any_thread, one_thread, steady_timer, multimap>()},
        {"schedule",
         "schedule one at +30 s, until all are live",
         {m},
         sizes,
         3,
         7,
         on<schedule, floor_store, core, core_by_id, embedded_core, any_thread, one_thread, scheduled_with_now,
            steady_timer, multimap>()},
        {"cancel",
         "cancel a random one, until none is live",
         {m},
         sizes,
         3,
         7,
         on<cancel, floor_store, core, core_by_id, embedded_core, any_thread, one_thread, steady_timer, multimap>()},
        {"async_wait_slot", "emit a random one's cancellation slot, async_wait at +30 s again; both handlers run", ends,
         sizes, 5, 9, on<churn, any_thread_waits, one_thread_waits, steady_timer_slot>()},
        {"wait_fire",
         "all expire within one millisecond: async_wait handlers, each with a cancellation slot",
         {m},
         sizes,
         3,
         5,
         on<fire_one_tick, any_thread_waits, one_thread_waits, steady_timer_slot>()},
        {"memory",
         "all live",
         {m},
         sizes,
         1,
         1,
         on<memory, floor_store, core, core_by_id, embedded_core, any_thread, one_thread, steady_timer, multimap>()},
    };
}

bool is_group(std::string_view name) { return name == "core" || name == "binding"; }

bool in_group(std::string_view group, std::string_view contender) {
    if (contender == reference) return true;
    const bool is_binding = contender.starts_with("cogwheel") && !contender.starts_with(core::name);
    return is_binding == (group == "binding");
}

} // namespace bench
