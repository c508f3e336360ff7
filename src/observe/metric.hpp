// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Descriptions of the metrics of metrics.hpp. Tests compare this list with docs/observe.md.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

enum class metric_type : std::uint8_t { counter, gauge, histogram };
std::string_view to_string(metric_type) noexcept; ///< the name of the constant

/// One metric. Names and units follow the naming practices of Prometheus: seconds, bytes, `_total` for counters.
struct metric_description {
    std::string_view name;
    metric_type type;
    std::string_view labels; ///< the names of its labels, separated by commas; the first one names the source
    std::string_view help;
};

/// Returns all metrics that Cogwheel defines, grouped by source. Complexity: O(metrics). Errors: std::bad_alloc.
std::vector<metric_description> all_metrics();

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
