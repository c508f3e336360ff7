// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What to_string() says of each constant of an enumeration, and of values that are none.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace cogwheel_tests {

/// The constants count from zero, and these are all.
template <class Enum>
void check_names(std::initializer_list<std::pair<Enum, std::string_view>> all) {
    static_assert(noexcept(to_string(Enum{})));
    for (const auto& [constant, name] : all) CHECK(to_string(constant) == name);
    CHECK(to_string(static_cast<Enum>(static_cast<std::underlying_type_t<Enum>>(all.size()))) == "unknown");
    CHECK(to_string(static_cast<Enum>(static_cast<std::underlying_type_t<Enum>>(-1))) == "unknown");
}

} // namespace cogwheel_tests
