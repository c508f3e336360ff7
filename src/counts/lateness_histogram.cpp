// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/counts/lateness_histogram.hpp>

#include <algorithm>
#include <cmath>

namespace cogwheel::COGWHEEL_ABI {

std::chrono::nanoseconds lateness_histogram::quantile(double q) const noexcept {
    if (total_ == 0) return {};
    const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        seen += counts_[i];
        if (seen != 0 && static_cast<double>(seen) >= wanted)
            return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(upper_end(i), max_)));
    }
    return max();
}

} // namespace cogwheel::COGWHEEL_ABI
