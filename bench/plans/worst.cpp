// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The longest single operation and the longest turn, on an io_context.
#include "contenders/binding.hpp"
#include "contenders/steady_timer.hpp"
#include "plans/legs.hpp"
#include "plans/more_binding.hpp"
#include "plans/worst_legs.hpp"
#include "workloads/worst_turn.hpp"

namespace bench {

namespace {

using any_thread = scheduled<cogwheel::timer_wheel>;
using one_thread = scheduled<cogwheel::local_timer_wheel>;

template <class C>
using turns_that_fire = worst_turn_leg<C, at_expiry::fire>;
template <class C>
using turns_that_refile = worst_turn_leg<C, at_expiry::pushed_back>;

template <template <class> class Leg>
entrants rows() {
    entrants all = on<Leg, any_thread, one_thread, steady_timer>();
    all.back().asio = with::both;
    return all;
}

} // namespace

entrants worst_schedule() { return rows<longest_schedule>(); }
entrants worst_cancel() { return rows<longest_cancel>(); }
entrants worst_touch() { return rows<longest_touch>(); }
entrants worst_turn() { return rows<turns_that_fire>(); }
entrants worst_turn_kept() { return rows<turns_that_refile>(); }

} // namespace bench
