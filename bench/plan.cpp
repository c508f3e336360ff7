// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See plan.hpp.
#include "plan.hpp"

#include "contenders/binding.hpp"
#include "contenders/core.hpp"
#include "contenders/floor.hpp"
#include "contenders/idle_monitor.hpp"
#include "contenders/multimap.hpp"
#include "contenders/steady_timer.hpp"
#include "contenders/wheel_timer.hpp"
#include "limits.hpp"
#include "two_threads.hpp"
#include "workloads.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace bench {

namespace {

using any_thread = scheduled<cogwheel::timer_wheel>;
using one_thread = scheduled<cogwheel::local_timer_wheel>;
using any_thread_waits = awaited<cogwheel::timer_wheel>;
using one_thread_waits = awaited<cogwheel::local_timer_wheel>;

using any_thread_timers = timer_objects<cogwheel::timer_wheel>;
using one_thread_timers = timer_objects<cogwheel::local_timer_wheel>;

template <class C>
using churn = live_set_leg<C, churn_operation, order::random>;
template <class C>
using touch = live_set_leg<C, touch_operation, order::random>;
template <class C>
using request = live_set_leg<C, churn_operation, order::round_robin>;
template <class C>
using rearm = live_set_leg<C, rearm_operation, order::random>;
template <class C>
using churn_on_two = two_thread_leg<C, churn_operation>;
template <class C>
using rearm_on_two = two_thread_leg<C, rearm_operation>;
template <class C>
using touch_on_two = two_thread_leg<C, touch_operation>;
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

template <class C>
constexpr with asio_of = std::is_base_of_v<steady_timer_base, C> ? with::both : with::own;

template <template <class> class Leg, class... C>
std::vector<entrant> on() {
    return {{C::name, [](std::size_t timers) -> std::unique_ptr<leg> { return std::make_unique<Leg<C>>(timers); },
             asio_of<C>}...};
}

template <class C>
entrant limit(std::string_view baseline) {
    return {C::name,
            [](std::size_t in_flight) -> std::unique_ptr<leg> { return std::make_unique<limit_leg<C>>(in_flight); },
            with::both, baseline};
}

std::vector<entrant> limits() {
    std::vector<entrant> all{
        limit<chains<bare>>({}),
        limit<chains<limited<cogwheel::timer_wheel>>>(bare::name),
        limit<chains<limited<cogwheel::local_timer_wheel>>>(bare::name),
        {"asio::cancel_after", nullptr, with::newer, bare::name},
        limit<coroutines<bare_awaited>>({}),
        limit<coroutines<limited_awaited>>(bare_awaited::name),
        limit<coroutines<operation_or_timer>>(bare_awaited::name),
    };
#if ASIO_VERSION >= 103100
    all[3] = limit<chains<asio_cancel_after>>(bare::name);
    all[3].asio = with::newer;
#endif
    return all;
}

std::vector<entrant> idle() {
    auto all = on<touch, handler_store, idle_monitors<false>, idle_monitors<true>, timer_objects_with_now,
                  any_thread_timers, steady_timer>();
    for (std::size_t i = 1; i < 3; ++i) all[i].baseline = handler_store::name;
    return all;
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
         on<request, floor_store, floor_clock, core, core_by_id, embedded_core, any_thread, one_thread,
            scheduled_with_now, steady_timer, multimap>()},
        {"churn", "cancel a random one, schedule one at +30 s", ends, sizes, 5, 9,
         on<churn, floor_store, floor_clock, core, core_by_id, embedded_core, any_thread, one_thread,
            scheduled_with_now, steady_timer, multimap>()},
        {"touch", "push a random one back to +30 s", ends, sizes, 5, 9,
         on<touch, floor_store, floor_clock, core, core_by_id, embedded_core, any_thread, one_thread,
            scheduled_with_now, any_thread_timers, one_thread_timers, timer_objects_with_now, steady_timer,
            multimap>()},
        {"rearm",
         "expires_after(30 s) and async_wait on a random one, whose wait is aborted; its handler runs",
         {k, 100 * k, m},
         sizes,
         5,
         9,
         on<rearm, floor_clock, any_thread_timers, one_thread_timers, steady_timer>()},
        {"idle", "activity on a random connection that is idle after 30 s without", {k, 100 * k}, sizes, 5, 9, idle()},
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
        {"timers_fire",
         "all expire within one millisecond: timer objects with a wait each",
         {m},
         sizes,
         3,
         5,
         on<fire_one_tick, any_thread_timers, one_thread_timers, steady_timer>()},
        {"two_threads_churn", "churn, on two threads at once", ends, sizes, 5, 9,
         on<churn_on_two, any_thread, steady_timer>()},
        {"two_threads_rearm", "rearm, on two threads at once", ends, sizes, 5, 9,
         on<rearm_on_two, any_thread_timers, steady_timer>()},
        {"two_threads_touch", "touch, on two threads at once", ends, sizes, 5, 9,
         on<touch_on_two, any_thread, any_thread_timers, steady_timer>()},
        {"limit",
         "an operation that completes at once, with a limit of 5 s (timers: in flight)",
         {k},
         {k},
         9,
         15,
         limits(),
         {"asio::cancel_after", operation_or_timer::name}},
        {"memory",
         "all live",
         {m},
         sizes,
         1,
         1,
         on<memory, floor_store, core, core_by_id, embedded_core, any_thread, one_thread, any_thread_timers,
            steady_timer, multimap>()},
    };
}

bool is_group(std::string_view name) { return name == "core" || name == "binding"; }

bool in_group(std::string_view group, std::string_view contender) {
    if (contender == steady_timer::name) return true;
    const bool is_core =
        contender.starts_with(core::name) || contender == floor_store::name || contender == multimap::name;
    return is_core == (group == "core");
}

std::unique_ptr<leg> make_leg(std::string_view workload, std::string_view contender, std::size_t timers) {
    for (const auto& w : all_workloads())
        if (w.name == workload)
            for (const entrant& e : w.entrants)
                if (e.contender == contender && e.make != nullptr) return e.make(timers);
    throw std::invalid_argument(fmt::format("no contender '{}' in workload '{}'", contender, workload));
}

} // namespace bench
