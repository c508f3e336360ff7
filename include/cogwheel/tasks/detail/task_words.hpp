// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Durations and dates as text for people.
#pragma once

#include <chrono>
#include <string>

namespace cogwheel::inline v0::detail {

/// Returns a duration as "250ms", "1h30m" or "2d": exact, without the parts that are zero.
std::string words(std::chrono::nanoseconds);

/// Returns a date as "2026-03-01T07:00:00Z" (RFC 3339, UTC), rounded down to milliseconds, which it shows unless they
/// are zero.
std::string date_text(std::chrono::sys_time<std::chrono::nanoseconds>);

} // namespace cogwheel::inline v0::detail
