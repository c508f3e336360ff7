// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Like assert(), but prints the file and line without the function: the names of template functions would be longer
// than all other texts of a small program. NDEBUG removes it.
#pragma once

#include <cogwheel/detail/platform.hpp>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Prints the text to stderr, and ends the program by std::abort().
[[noreturn, gnu::cold]] void assertion_failed(const char* text) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail

#ifdef __FILE_NAME__
#define COGWHEEL_FILE_NAME __FILE_NAME__
#else
#define COGWHEEL_FILE_NAME __FILE__
#endif
#define COGWHEEL_AS_TEXT(line) #line
#define COGWHEEL_LINE_AS_TEXT(line) COGWHEEL_AS_TEXT(line)

#ifdef NDEBUG
#define COGWHEEL_ASSERT(holds) static_cast<void>(0)
#else
#define COGWHEEL_ASSERT(holds)                                                                                         \
    ((holds)                                                                                                           \
         ? static_cast<void>(0)                                                                                        \
         : ::cogwheel::detail::assertion_failed(COGWHEEL_FILE_NAME ":" COGWHEEL_LINE_AS_TEXT(__LINE__) ": " #holds))
#endif
