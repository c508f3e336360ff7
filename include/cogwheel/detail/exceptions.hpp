// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Macros for try, catch (...) and throw in headers. With -fno-exceptions, compilers reject these keywords; nothing
// throws then, and the macros leave the handlers out.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <new>

#ifdef __cpp_exceptions
#define COGWHEEL_TRY try
#define COGWHEEL_CATCH catch (...)
#define COGWHEEL_RETHROW throw
#else
#define COGWHEEL_TRY if (true)
#define COGWHEEL_CATCH else
#define COGWHEEL_RETHROW static_cast<void>(0)
#endif

namespace cogwheel::COGWHEEL_ABI::detail {

/// Returns true if the exception being handled is std::bad_alloc. Preconditions: called from a handler.
inline bool is_out_of_memory() noexcept {
#ifdef __cpp_exceptions
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return true;
    } catch (...) {
        return false;
    }
#else
    return false;
#endif
}

} // namespace cogwheel::COGWHEEL_ABI::detail
