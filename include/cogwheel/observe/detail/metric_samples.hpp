// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the sources of metrics deliver, by type of source.
#pragma once

#include <cogwheel/asio/cursor.hpp>
#include <cogwheel/counts/wheel_stats.hpp>
#include <cogwheel/net/idle_stats.hpp>
#include <cogwheel/net/request_options.hpp>
#include <cogwheel/resilience/circuit_options.hpp>
#include <cogwheel/resilience/retry_budget.hpp>
#include <cogwheel/resilience/retry_counts.hpp>
#include <cogwheel/tasks/task_stats.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct wheel_sample {
    wheel_snapshot wheel;
    std::optional<idle_stats> idle; // a board does not have these two
    std::optional<request_stats> requests;
};
struct circuit_sample {
    circuit_stats stats;
    circuit_state state = circuit_state::closed;
};

/// A source of samples. A sample takes several steps, each of at most 0.1 ms; the last one returns false.
template <class Sample>
struct metric_source {
    std::string name;
    std::function<bool(wheel_cursor&, Sample&)> step;

    std::mutex mutex; // held during a step, so that remove() waits for its end
    bool removed = false;
};

template <class Sample>
using metric_source_list = std::vector<std::shared_ptr<metric_source<Sample>>>;

struct user_metric {
    std::string help;
    bool is_counter = false;
    std::vector<std::pair<std::string, std::string>> labels;
};
struct user_sample {
    double value = 0;
};
struct user_source : metric_source<user_sample> {
    user_metric what;
};

/// All sources, by type. A new type needs a line here, and a table in src/observe/metric_tables.hpp.
using metric_sources =
    std::tuple<metric_source_list<wheel_sample>, metric_source_list<request_stats>, metric_source_list<circuit_sample>,
               metric_source_list<retry_stats>, metric_source_list<retry_budget_stats>, metric_source_list<task_stats>>;

template <class T, class Sources = metric_sources>
inline constexpr bool is_sample = false;
template <class T, class... Lists>
inline constexpr bool is_sample<T, std::tuple<Lists...>> = (std::is_same_v<metric_source_list<T>, Lists> || ...);

/// The samples that a function of the user, or stats() of an object, may return.
template <class T>
inline constexpr bool is_summable =
    is_sample<T> && !std::is_same_v<T, wheel_sample> && !std::is_same_v<T, circuit_sample>;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
