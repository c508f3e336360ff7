// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Exceptions of the standard library that each program with a wheel may throw. A throw expression makes the program
// import the exception's constructor, destructor and type information. libstdc++ has functions that do all of this.
// They first look the text up in the program's catalogue of gettext(3), if it has one.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail {

[[noreturn, gnu::cold]] inline void throw_invalid_argument(const char* text) {
#ifdef __GLIBCXX__
    std::__throw_invalid_argument(text);
#else
    throw std::invalid_argument(text);
#endif
}

[[noreturn, gnu::cold]] inline void throw_length_error(const char* text) {
#ifdef __GLIBCXX__
    std::__throw_length_error(text);
#else
    throw std::length_error(text);
#endif
}

} // namespace cogwheel::COGWHEEL_ABI::detail
