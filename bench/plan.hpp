// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which workload runs on which contenders, with how many timers, how often.
#pragma once

#include "leg.hpp"

#include <string_view>
#include <vector>

namespace bench {

/// With which Asio a contender runs: the one that this program was built with, a newer one (its twin's), or both.
enum class with { own, newer, both };

struct entrant {
    std::string_view contender;
    std::unique_ptr<leg> (*make)(std::size_t timers); ///< null if this program's Asio has no such thing
    with asio = with::own;
    std::string_view baseline = {}; ///< what its cost is counted above; empty: nothing
};

struct workload {
    std::string_view name;
    std::string_view what; ///< one operation, in words
    std::vector<std::size_t> quick_timers;
    std::vector<std::size_t> timers;
    std::size_t quick_repetitions;
    std::size_t repetitions;
    std::vector<entrant> entrants;
    std::vector<std::string_view> references = {"asio::steady_timer"}; ///< those that ratios are given against
};

std::vector<workload> all_workloads();

/// Errors: std::invalid_argument, if there is none.
std::unique_ptr<leg> make_leg(std::string_view workload, std::string_view contender, std::size_t timers);

/// "core" and "binding" are groups of contenders.
bool in_group(std::string_view group, std::string_view contender);
bool is_group(std::string_view name);

} // namespace bench
