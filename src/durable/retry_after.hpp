// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads the header Retry-After (RFC 9110, section 10.2.3): a number of seconds, or a date in one of HTTP's three forms.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns how long to wait from `now`: 0 to `most`; nothing if the text is neither a number nor a date.
/// A date in the past is 0. A two-digit year is one from 50 years ago to 49 years ahead.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, std::chrono::sys_seconds now,
                                                      std::chrono::seconds most) noexcept;

/// Parses an HTTP date (RFC 9110, section 5.6.7), of a year from 1970 to 9999.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text, std::chrono::sys_seconds now) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
