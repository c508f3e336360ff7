// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

/// The value that so many percent are not above; 100 is the largest. Sorts. Zero if there are none.
inline double percentile(std::vector<double>& values, double percent) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(percent / 100 * static_cast<double>(values.size()));
    return values[std::min(rank, values.size() - 1)];
}

} // namespace bench
