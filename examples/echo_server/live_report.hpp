// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What --stats shows while the server runs.
#pragma once

#include "statistics.hpp"
#include "support/live_view.hpp"

#include <chrono>
#include <cstddef>

namespace echo {

class live_report {
public:
    explicit live_report(const statistics& counts) : counts_{counts} {}

    /// `connections`: those that are open.
    void show(std::size_t connections);

private:
    const statistics& counts_;
    const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    output::live_view view_;
    output::rate messages_{started_};
    output::rate bytes_{started_};
    output::rate closed_{started_};
    std::size_t most_connections_ = 0; // the length of the bars: they shrink as connections leave
};

} // namespace echo
