// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which workload runs on which contenders, with how many timers, how often.
#pragma once

#include "leg.hpp"

#include <string_view>
#include <vector>

namespace bench {

struct entrant {
    std::string_view contender;
    std::unique_ptr<leg> (*make)(std::size_t timers);
};

struct workload {
    std::string_view name;
    std::string_view what; ///< one operation, in words
    std::vector<std::size_t> quick_timers;
    std::vector<std::size_t> timers;
    std::size_t quick_repetitions;
    std::size_t repetitions;
    std::vector<entrant> entrants;
};

inline constexpr std::string_view reference = "asio::steady_timer"; ///< the one that ratios are given against

std::vector<workload> all_workloads();

/// "core" and "binding" are groups of contenders.
bool in_group(std::string_view group, std::string_view contender);
bool is_group(std::string_view name);

} // namespace bench
