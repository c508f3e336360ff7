// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Durations and dates as people read them.
#pragma once

#include <chrono>
#include <string>

namespace cogwheel::detail {

/// "250ms", "1h30m", "2d": exact; parts that are zero are left out.
std::string words(std::chrono::nanoseconds);

/// "2026-03-01T07:00:00Z", with milliseconds where there are any. RFC 3339, UTC.
std::string date_text(std::chrono::sys_time<std::chrono::nanoseconds>);

} // namespace cogwheel::detail
