// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// From samples to figures: medians, checks, the table, JSON.
#pragma once

#include "leg.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One contender on one workload of one size.
struct row {
    std::string_view workload;
    std::string_view contender;
    std::size_t timers = 0;
    bool timed = false;
    double ns = 0; ///< CPU time an operation, the median of the repetitions
    double min = 0;
    double max = 0;
    double wall_ns = 0; ///< median
    double bytes = 0;
    double handle_bytes = 0;
    std::size_t repetitions = 0;
    std::string error; ///< empty: none
};

row summarise(std::string_view workload, std::string_view contender, std::size_t timers,
              const std::vector<sample>& samples);

/// What is wrong with the results of a workload's contenders, one vector of samples each; empty: they agree.
std::string disagreement(const std::vector<std::vector<sample>>& samples);

struct machine_names {
    std::string cpu;
    std::string compiler;
    std::string asio;
};

/// A block for one workload and size. `reference`: the contender that ratios are given against.
std::string table(const std::vector<row>& rows, std::string_view what, std::string_view reference);

/// All ratios on one page.
std::string summary(const std::vector<row>& rows, std::string_view reference);

std::string json(const std::vector<row>& rows, const machine_names& machine);

} // namespace bench
