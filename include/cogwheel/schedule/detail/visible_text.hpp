// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Text of others in lines for people: it must not move the cursor, and columns have to stay below each other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cogwheel::detail {

/// Length of the UTF-8 sequence that begins the text; 0: there is none (RFC 3629: no surrogates, nothing longer than needed).
std::size_t utf8_length(std::string_view text) noexcept;

/// Control characters, those of Unicode's second block among them, become spaces, and bytes that are no UTF-8 question marks.
std::string visible_text(std::string_view text);

/// Columns of a terminal. Precondition: visible text.
std::size_t text_width(std::string_view text) noexcept;

} // namespace cogwheel::detail
