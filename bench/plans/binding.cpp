// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel on an io_context, beside Asio's own timers.
#include "contenders/binding.hpp"

#include "contenders/callback_timer.hpp"
#include "contenders/floor.hpp"
#include "contenders/idle_monitor.hpp"
#include "contenders/steady_timer.hpp"
#include "contenders/wheel_timer.hpp"
#include "echo/echo_leg.hpp"
#include "plans/legs.hpp"
#include "plans/more_binding.hpp"
#include "workloads/add_tasks.hpp"
#include "workloads/limits.hpp"
#include "workloads/lone.hpp"
#include "workloads/remote.hpp"
#include "workloads/threads.hpp"

namespace bench {

namespace {

using any_thread = scheduled<cogwheel::timer_wheel>;
using one_thread = scheduled<cogwheel::local_timer_wheel>;
using any_thread_waits = awaited<cogwheel::timer_wheel>;
using one_thread_waits = awaited<cogwheel::local_timer_wheel>;

using any_thread_timers = timer_objects<cogwheel::timer_wheel>;
using one_thread_timers = timer_objects<cogwheel::local_timer_wheel>;

using any_thread_callbacks = callback_timers<cogwheel::timer_wheel>;
using one_thread_callbacks = callback_timers<cogwheel::local_timer_wheel>;

using any_thread_huge = in_huge_pages<cogwheel::timer_wheel>;
using one_thread_huge = in_huge_pages<cogwheel::local_timer_wheel>;

template <class Operation, int Threads>
struct on_threads {
    template <class C>
    using leg = threads_leg<C, Operation, Threads>;
};

template <class C>
using remote_calls = remote_leg<C, reach::directly>;
template <class C>
using remote_posts = remote_leg<C, reach::by_post>;

// With both Asios, where it is Asio's.
template <template <class> class Leg, class... C>
entrants on_asio() {
    return {{C::name, &make<Leg<C>>, std::is_base_of_v<steady_timer_base, C> ? with::both : with::own}...};
}

template <class C>
entrant limit(std::string_view baseline) {
    return {C::name, &make<limit_leg<C>>, with::both, baseline};
}

entrants limits() {
    entrants all{
        limit<chains<bare>>({}),
        limit<chains<limited<cogwheel::timer_wheel>>>(bare::name),
        limit<chains<limited_by_context>>(bare::name),
        limit<chains<limited<cogwheel::local_timer_wheel>>>(bare::name),
        {"asio::cancel_after", nullptr, with::newer, bare::name},
        limit<coroutines<bare_awaited>>({}),
        limit<coroutines<limited_awaited>>(bare_awaited::name),
        limit<coroutines<operation_or_timer>>(bare_awaited::name),
    };
#if ASIO_VERSION >= 103100
    all[4] = limit<chains<asio_cancel_after>>(bare::name);
    all[4].asio = with::newer;
#endif
    return all;
}

template <class How>
entrant lone(with asio = with::own) {
    return {How::name, &make<lone_leg<How>>, asio};
}

entrants lones() {
    entrants all{
        lone<lone_steady_timer>(with::both),
        lone<lone_wheel_timer<cogwheel::timer_wheel>>(),
        lone<lone_wheel_timer<cogwheel::local_timer_wheel>>(),
        lone<lone_token<cogwheel::timer_wheel>>(),
        lone<lone_token<cogwheel::local_timer_wheel>>(),
        lone<lone_bare>(),
        lone<lone_timer_beside>(with::both),
        lone<lone_timeout_after<cogwheel::timer_wheel>>(),
        lone<lone_timeout_after<cogwheel::local_timer_wheel>>(),
        {"asio::cancel_after", nullptr, with::newer},
    };
#if ASIO_VERSION >= 103100
    all.back() = lone<lone_cancel_after>(with::newer);
#endif
    return all;
}

entrants activity() {
    auto all = on_asio<touch, handler_store, idle_monitors<false>, idle_monitors<true>, timer_objects_with_now,
                       any_thread_timers, steady_timer>();
    for (std::size_t i = 1; i < 3; ++i) all[i].baseline = handler_store::name;
    return all;
}

entrants bursts() {
    auto all = on_asio<burst_leg, any_thread, one_thread, one_thread_waits, steady_timer>();
    all[2].contender = "cogwheel-local, async_wait";
    return all;
}

entrants echoes() {
    using namespace echo;
    return {
        {no_limit::name, &make<echo_leg<no_limit>>},
        {no_limit_again::name, &make<echo_leg<no_limit_again>>, with::own, no_limit::name},
        {"cogwheel", &make<echo_leg<wheel_limit<cogwheel::timer_wheel>>>, with::own, no_limit::name},
        {"cogwheel-local", &make<echo_leg<wheel_limit<cogwheel::local_timer_wheel>>>, with::own, no_limit::name},
        {steady_timer_limit::name, &make<echo_leg<steady_timer_limit>>, with::own, no_limit::name},
    };
}

} // namespace

const participation& binding_plan() {
    static const participation all{
        {"request", on_asio<request, floor_clock, floor_counter, floor_counter_lock, token_store, token_counter,
                            token_counter_lock, safe_token, safe_token_counter, safe_token_counter_lock, any_thread,
                            one_thread, scheduled_with_now, any_thread_callbacks, one_thread_callbacks,
                            callback_timers_with_now, steady_timer>()},
        {"churn", on_asio<churn, token_clock, token_clock_lock, token_store, token_counter, floor_counter,
                          floor_counter_lock, token_counter_lock, safe_token, safe_token_counter,
                          safe_token_counter_lock, any_thread, one_thread, scheduled_with_now, any_thread_callbacks,
                          one_thread_callbacks, callback_timers_with_now, steady_timer>()},
        {"touch", on_asio<touch, floor_clock, floor_counter, floor_counter_lock, floor_object, token_clock,
                          token_clock_lock, token_store, token_counter, token_counter_lock, safe_token,
                          safe_token_counter, safe_token_counter_lock, any_thread, one_thread, scheduled_with_now,
                          any_thread_timers, one_thread_timers, timer_objects_with_now, any_thread_callbacks,
                          one_thread_callbacks, callback_timers_with_now, steady_timer>()},
        {"touch_earlier", on_asio<touch_earlier, any_thread, one_thread, scheduled_with_now, any_thread_callbacks,
                                  one_thread_callbacks, steady_timer>()},
        {"churn_huge", in_huge_heap(on_asio<churn, token_clock, steady_timer>()) +
                           on_asio<churn, any_thread_huge, one_thread_huge>()},
        {"touch_huge", in_huge_heap(on_asio<touch, token_clock, steady_timer>()) +
                           on_asio<touch, any_thread_huge, one_thread_huge>()},
        {"mixed_huge", in_huge_heap(on_asio<mixed_leg, steady_timer>())},
        {"rearm",
         on_asio<rearm, token_clock, token_clock_two_locks, any_thread_timers, one_thread_timers, steady_timer>()},
        {"activity", activity()},
        {"fire_one_tick",
         on_asio<fire_one_tick, any_thread, one_thread, any_thread_callbacks, one_thread_callbacks, steady_timer>()},
        {"fire_spread", on_asio<fire_spread, any_thread, one_thread, steady_timer>()},
        {"fire_minute", on_asio<fire_minute, fine_ticks<cogwheel::timer_wheel>, fine_levels, steady_timer>()},
        {"mixed", on_asio<mixed_leg, any_thread, one_thread, scheduled_with_now, any_thread_callbacks,
                          one_thread_callbacks, callback_timers_with_now, steady_timer>()},
        {"schedule", on_asio<schedule, any_thread, one_thread, scheduled_with_now, any_thread_callbacks,
                             one_thread_callbacks, steady_timer>()},
        {"cancel", on_asio<cancel, safe_token, any_thread, one_thread, any_thread_callbacks, one_thread_callbacks,
                           steady_timer>()},
        {"async_wait_slot", on_asio<churn, floor_slot, any_thread_waits, one_thread_waits, steady_timer_slot>()},
        {"wait_fire", on_asio<fire_one_tick, any_thread_waits, one_thread_waits, steady_timer_slot>()},
        {"timers_fire", on_asio<fire_one_tick, any_thread_timers, one_thread_timers, steady_timer>()},
        {"two_threads_churn", on_asio<on_threads<churn_operation, 2>::leg, any_thread, steady_timer>()},
        {"two_threads_rearm", on_asio<on_threads<rearm_operation, 2>::leg, any_thread_timers, steady_timer>()},
        {"two_threads_touch",
         on_asio<on_threads<touch_operation, 2>::leg, any_thread, any_thread_timers, steady_timer>()},
        {"four_threads_churn", on_asio<on_threads<churn_operation, 4>::leg, any_thread, steady_timer>()},
        {"four_threads_rearm", on_asio<on_threads<rearm_operation, 4>::leg, any_thread_timers, steady_timer>()},
        {"four_threads_touch",
         on_asio<on_threads<touch_operation, 4>::leg, any_thread, any_thread_timers, steady_timer>()},
        {"shared_churn", shared_churn()},
        {"shared_touch", shared_touch()},
        {"per_thread_churn", per_thread_churn()},
        {"per_thread_touch", per_thread_touch()},
        {"worst_schedule", worst_schedule()},
        {"worst_cancel", worst_cancel()},
        {"worst_touch", worst_touch()},
        {"worst_turn", worst_turn()},
        {"worst_turn_kept", worst_turn_kept()},
        {"remote", on_asio<remote_calls, any_thread>() + on_asio<remote_posts, one_thread, steady_timer>()},
        {"add_tasks", on_asio<add_tasks_leg, keyed_tasks, interval_tasks, scheduler_tasks, steady_timer_tasks>()},
        {"limit", limits()},
        {"lone", lones()},
        {"idle", on_asio<idle_cost_leg, any_thread, one_thread, steady_timer>()},
        {"burst", bursts()},
        {"lateness", on_asio<lateness_leg, fine_ticks<cogwheel::timer_wheel>, fine_ticks<cogwheel::local_timer_wheel>,
                             steady_timer>()},
        {"echo", echoes()},
        {"memory", on_asio<memory, any_thread, one_thread, any_thread_timers, any_thread_callbacks, steady_timer>()},
        {"drain", on_asio<drain_leg, any_thread, one_thread>()},
    };
    return all;
}

} // namespace bench
