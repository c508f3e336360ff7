// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Event loops of C: the workloads that each takes part in.
#pragma once

#include "plans/legs.hpp"

namespace bench {

template <class C>
void add_loop(participation& to, const std::string& version) {
    const std::pair<std::string_view, entrants> all[]{
        {"request", on<request, C>()},   {"churn", on<churn, C>()},   {"touch", on<touch, C>()},
        {"schedule", on<schedule, C>()}, {"cancel", on<cancel, C>()}, {"memory", on<memory, C>()},
    };
    for (const auto& [workload, some] : all) to[workload].insert(to[workload].end(), some.begin(), some.end());
    if constexpr (firing_contender<C>) {
        const std::pair<std::string_view, entrants> more[]{
            {"touch_earlier", on<touch_earlier, C>()}, {"fire_one_tick", on<fire_one_tick, C>()},
            {"fire_spread", on<fire_spread, C>()},     {"mixed", on<mixed_leg, C>()},
            {"lateness", on<lateness_leg, C>()},
        };
        for (const auto& [workload, some] : more) to[workload].insert(to[workload].end(), some.begin(), some.end());
    }
    for (auto& [workload, some] : to)
        for (entrant& e : some)
            if (e.contender == C::name) e.version = version;
}

/// Says in each of these workloads that it is not here.
inline void add_missing(participation& to, std::string_view name, std::string_view package) {
    for (const std::string_view workload : {"request", "churn", "touch", "touch_earlier", "schedule", "cancel",
                                            "fire_one_tick", "fire_spread", "mixed", "memory"}) {
        entrant e{name, nullptr};
        e.missing = package;
        to[workload].push_back(e);
    }
}

/// Each in a file of its own, compiled where it is installed: their headers do not bear one another.
void add_libuv(participation&);
void add_libevent(participation&);
void add_libev(participation&);

} // namespace bench
