// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The header traceparent of W3C Trace Context (https://www.w3.org/TR/trace-context/#traceparent-header).
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <cstddef>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Returns true for version, trace id, parent id and flags, in lower-case hex digits, with dashes between.
constexpr bool is_traceparent(std::string_view text) noexcept {
    constexpr std::string_view shape = "00-00000000000000000000000000000000-0000000000000000-00";
    if (text.size() != shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (shape[i] == '-' ? text[i] != '-' : !digit) return false;
    }
    return !text.starts_with("ff");
}

} // namespace cogwheel::COGWHEEL_ABI::detail
