// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>

#include <cstdlib>

#if COGWHEEL_LINUX
#include <array>
#include <string_view>

#include <unistd.h>
#else
#include <cstdio>
#endif

namespace cogwheel::COGWHEEL_ABI::detail {

void assertion_failed(const char* text) noexcept {
#if COGWHEEL_LINUX // write() is in most programs anyway, and prints the line in one piece
    std::array<char, 400> line{};
    std::size_t length = 0;
    for (const std::string_view part : {"cogwheel: assertion failed: ", text, "\n"})
        for (const char c : part.substr(0, line.size() - length)) line[length++] = c;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), length);
#else
    std::fprintf(stderr, "cogwheel: assertion failed: %s\n", text);
#endif
    std::abort();
}

} // namespace cogwheel::COGWHEEL_ABI::detail
