// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// From samples to figures: medians, checks, the table, JSON.
#pragma once

#include "leg.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One contender on one workload of one size.
struct row {
    std::string_view workload;
    std::string contender;
    std::size_t timers = 0;
    bool timed = false;
    double ns = 0; ///< CPU time an operation, the median of the repetitions
    double min = 0;
    double max = 0;
    double wall_ns = 0; ///< median
    double bytes = 0;
    double handle_bytes = 0;
    double mallocs = 0;                         ///< an operation, the least
    std::optional<double> above;                ///< ns above the baseline, if it has one
    std::array<double, 8> figures{};            ///< medians
    std::vector<std::string_view> figure_names; ///< as many as there are
    std::size_t repetitions = 0;
    std::string error; ///< empty: none
};

row summarise(std::string_view workload, std::string contender, std::size_t timers, const std::vector<sample>& samples);

/// What is wrong with the results of a workload's contenders, one vector of samples each; empty: they agree.
std::string disagreement(const std::vector<std::vector<sample>>& samples);

struct machine_names {
    std::string cpu;
    std::string compiler;
    std::string asio;
};

/// A block for one workload and size. `references`: the contenders that ratios are given against, with whichever Asio.
std::string table(const std::vector<row>& rows, std::string_view what, const std::vector<std::string_view>& references);
/// The same for a workload with figures of its own.
std::string figures_table(const std::vector<row>& rows, std::string_view what,
                          const std::vector<std::string_view>& names);

std::string json(const std::vector<row>& rows, const machine_names& machine);

} // namespace bench
