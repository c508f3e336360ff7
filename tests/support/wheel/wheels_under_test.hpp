// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheels that have to do what the reference does.
#pragma once

#include <cogwheel/wheel/hashed_wheel.hpp>
#include <cogwheel/wheel/hierarchical_wheel.hpp>

namespace cogwheel_tests {

/// Levels that are no powers of two, and so few of them that most timers go round with the last.
struct uneven_levels : cogwheel::hierarchical_wheel {
    uneven_levels(cogwheel::node_table& nodes, std::size_t, cogwheel::tick now = {})
        : hierarchical_wheel(
              nodes,
              {{std::chrono::nanoseconds(1), 5}, {std::chrono::nanoseconds(4), 3}, {std::chrono::nanoseconds(12), 4}},
              now) {}
};

#define EVERY_WHEEL cogwheel::hashed_wheel, cogwheel::hierarchical_wheel, uneven_levels

} // namespace cogwheel_tests
