// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/assertion.hpp>

#include <cstdio>
#include <cstdlib>

namespace cogwheel::inline v0::detail {

void assertion_failed(const char* text) noexcept {
    std::fprintf(stderr, "cogwheel: assertion failed: %s\n", text);
    std::abort();
}

} // namespace cogwheel::inline v0::detail
