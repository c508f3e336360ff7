// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The metrics of each type of source: names, meanings, and how to read them.
#pragma once

#include "metric_sink.hpp"

#include <cogwheel/observe/detail/metric_samples.hpp>

#include <span>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Sample>
struct metric {
    metric_description what;
    void (*read)(const Sample&, metric_sink&); ///< sends no value if the source does not count this
};

/// The metrics of the sources that deliver this type of sample.
template <class Sample>
struct metric_table {
    std::string_view label; ///< the label with the name of the source
    std::string_view group; ///< the member of the JSON document that holds these sources
    std::span<const metric<Sample>> metrics;
};

template <class Sample>
metric_table<Sample> table_of() noexcept;

template <>
metric_table<wheel_sample> table_of() noexcept;
template <>
metric_table<request_stats> table_of() noexcept;
template <>
metric_table<circuit_sample> table_of() noexcept;
template <>
metric_table<retry_stats> table_of() noexcept;
template <>
metric_table<retry_budget_stats> table_of() noexcept;
template <>
metric_table<task_stats> table_of() noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
