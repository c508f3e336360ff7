// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The workloads by name, and lists of those who take part.
#pragma once

#include "plan.hpp"
#include "workloads/burst.hpp"
#include "workloads/drain.hpp"
#include "workloads/firing.hpp"
#include "workloads/idle_cost.hpp"
#include "workloads/jump.hpp"
#include "workloads/kept.hpp"
#include "workloads/lateness.hpp"
#include "workloads/mixed.hpp"
#include "workloads/month.hpp"
#include "workloads/phases.hpp"
#include "workloads/rounds.hpp"

namespace bench {

template <class C>
using churn = live_set_leg<C, churn_operation, order::random>;
template <class C>
using touch = live_set_leg<C, touch_operation, order::random>;
template <class C>
using touch_earlier = live_set_leg<C, touch_earlier_operation, order::random>;
template <class C>
using request = live_set_leg<C, churn_operation, order::oldest_first>;
template <class C>
using rearm = live_set_leg<C, rearm_operation, order::random>;

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
using fire_minute = fire_leg<C, 60'000>;

template <class Leg>
std::unique_ptr<leg> make(std::size_t timers) {
    return std::make_unique<Leg>(timers);
}

template <template <class> class Leg, class... C>
entrants on() {
    return {{C::name, &make<Leg<C>>}...};
}

/// The processes of those who have no other way to it get the heap in huge pages.
inline entrants in_huge_heap(entrants all) {
    for (entrant& e : all) e.huge_heap = true;
    return all;
}
inline entrants operator+(entrants some, const entrants& more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
}

} // namespace bench
