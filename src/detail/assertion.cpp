// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>

#include <cstdlib>

#if COGWHEEL_LINUX
#include <string_view>

#include <unistd.h>
#else
#include <cstdio>
#endif

namespace cogwheel::inline v0::detail {

void assertion_failed(const char* text) noexcept {
#if COGWHEEL_LINUX // by what most programs contain anyway
    for (const std::string_view part : {"cogwheel: assertion failed: ", text, "\n"}) {
        const auto written = ::write(STDERR_FILENO, part.data(), part.size());
        static_cast<void>(written);
    }
#else
    std::fprintf(stderr, "cogwheel: assertion failed: %s\n", text);
#endif
    std::abort();
}

} // namespace cogwheel::inline v0::detail
