// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which workload runs on which contenders, with how many timers, how often.
#pragma once

#include "leg.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// With which Asio a contender runs: the one that this program was built with, a newer one (its twin's), or both.
enum class with { own, newer, both };

struct entrant {
    std::string_view contender;
    std::unique_ptr<leg> (*make)(std::size_t timers); ///< null: not in this program, see the others
    with asio = with::own;
    std::string_view baseline = {}; ///< what its cost is counted above; empty: nothing
    std::string version = {};       ///< of a peer
    std::string_view program = {};  ///< beside this one, that has the leg; empty: this one
    std::string_view missing = {};  ///< what has to be installed for it
    bool huge_heap = false;         ///< its process has all that malloc() gives in huge pages
    std::string_view group = {};    ///< core, binding, loops, foreign
};

using entrants = std::vector<entrant>;

struct workload {
    std::string_view name;
    std::string_view what; ///< one operation, in words
    std::vector<std::size_t> quick_timers;
    std::vector<std::size_t> timers;
    std::vector<std::size_t> more_timers; ///< with --full
    std::size_t quick_repetitions;
    std::size_t repetitions;
    std::vector<std::string_view> figures = {};                        ///< beside the times: names of sample::figures
    std::vector<std::string_view> references = {"asio::steady_timer"}; ///< those that ratios are given against
    entrants contenders = {};
};

std::vector<workload> all_workloads();

/// Errors: std::invalid_argument, if there is none.
std::unique_ptr<leg> make_leg(std::string_view workload, std::string_view contender, std::size_t timers);

/// Of contenders.
bool is_group(std::string_view name);

// ---- plans/: who takes part in a workload ----

/// By workload.
using participation = std::map<std::string_view, entrants>;

const participation& core_plan();
const participation& binding_plan();
const participation& loop_plan();
const participation& foreign_plan();

} // namespace bench
