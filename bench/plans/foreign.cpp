// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Contenders in other languages, where their tools are installed: Rust's are linked in, Java's have a program of their
// own.
#include "plans/loops.hpp"

#ifdef COGWHEEL_BENCH_TOKIO
#include "contenders/tokio.hpp"
#endif

namespace bench {

namespace {

participation all_foreign() {
    participation all;
#ifdef COGWHEEL_BENCH_TOKIO
    all = {
        {"request", on<request, tokio>()},
        {"churn", on<churn, tokio>()},
        {"touch", on<touch, tokio>()},
        {"touch_earlier", on<touch_earlier, tokio>()},
        {"schedule", on<schedule, tokio>()},
        {"cancel", on<cancel, tokio>()},
        {"fire_one_tick", on<fire_one_tick, tokio>()},
        {"fire_spread", on<fire_spread, tokio>()},
        {"mixed", on<mixed_leg, tokio>()},
        {"jump", on<jump_leg, tokio>()},
        {"memory", on<memory, tokio>()},
    };
    for (auto& [name, some] : all)
        for (entrant& e : some) e.version = COGWHEEL_BENCH_TOKIO;
#else
    add_missing(all, "tokio", "cargo, librust-tokio-dev");
#endif
    for (const std::string_view workload : {"request", "churn", "touch", "touch_earlier", "schedule", "cancel",
                                            "fire_one_tick", "fire_spread", "idle", "memory"}) {
        entrant e{"netty", nullptr};
#ifdef COGWHEEL_BENCH_NETTY
        e.version = COGWHEEL_BENCH_NETTY;
        e.program = "cogwheel_bench_netty";
#else
        e.missing = "libnetty-java, openjdk-17-jdk-headless";
#endif
        all[workload].push_back(e);
    }
    return all;
}

} // namespace

const participation& foreign_plan() {
    static const participation all = all_foreign();
    return all;
}

} // namespace bench
