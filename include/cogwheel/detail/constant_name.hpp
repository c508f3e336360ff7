// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Returns the name of a constant, or "unknown" for another value. `names`: those of the constants 0, 1, ..., in order.
template <class Enum>
constexpr std::string_view constant_name(Enum value, std::initializer_list<std::string_view> names) noexcept {
    const auto i = static_cast<std::size_t>(value);
    return i < names.size() ? names.begin()[i] : "unknown";
}

} // namespace cogwheel::COGWHEEL_ABI::detail
