// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The counts of the idle monitors of a wheel. wheel_counts.hpp reads them.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Counts of all idle monitors on one wheel.
struct idle_stats {
    std::uint64_t monitors = 0;                              ///< that exist now
    std::uint64_t reader = 0, writer = 0, all = 0, ping = 0; ///< events by kind that async_idle() has reported

    friend bool operator==(const idle_stats&, const idle_stats&) = default;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
