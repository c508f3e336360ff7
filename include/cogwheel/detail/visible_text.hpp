// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Makes foreign text safe to print: it does not move the cursor, and columns stay aligned.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Returns the length in bytes of the valid UTF-8 sequence (RFC 3629) at the start of the text, or 0 if there is none.
std::size_t utf8_length(std::string_view text) noexcept;

/// Returns the text without control characters and invalid bytes. A space replaces each control character, also from
/// U+0080 to U+009F. A question mark replaces each byte that is not UTF-8.
std::string visible_text(std::string_view text);

/// Returns the number of columns that the text takes in a terminal. Preconditions: the text comes from visible_text().
std::size_t text_width(std::string_view text) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail
