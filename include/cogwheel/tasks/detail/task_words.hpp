// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Durations and dates as text for people.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The units of a duration in words, the largest first.
struct duration_unit {
    std::string_view name;
    std::int64_t size; // nanoseconds
};
inline constexpr std::array<duration_unit, 7> duration_units{{{"d", 86'400'000'000'000},
                                                              {"h", 3'600'000'000'000},
                                                              {"m", 60'000'000'000},
                                                              {"s", 1'000'000'000},
                                                              {"ms", 1'000'000},
                                                              {"us", 1'000},
                                                              {"ns", 1}}};

/// Returns a duration as "250ms", "1h30m" or "2d": exact, without the parts that are zero.
std::string words(std::chrono::nanoseconds);

/// Returns a date as "2026-03-01T07:00:00Z" (RFC 3339, UTC), rounded down to milliseconds, which it shows unless they
/// are zero.
std::string date_text(std::chrono::sys_time<std::chrono::nanoseconds>);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
