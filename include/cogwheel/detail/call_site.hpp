// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a function is called, for an error message.
#pragma once

#include <cogwheel/detail/platform.hpp>

namespace cogwheel::COGWHEEL_ABI::detail {

/// As std::source_location, which Clang 14 lacks. As a default argument, here() names the place of the call.
struct call_site {
    const char* file;
    unsigned line;

    static constexpr call_site here(const char* f = __builtin_FILE(), unsigned l = __builtin_LINE()) noexcept {
        return {f, l};
    }
};

} // namespace cogwheel::COGWHEEL_ABI::detail
