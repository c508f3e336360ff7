// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Aligned memory for an operator new of a test's own: Windows has no std::aligned_alloc, and frees such memory in a way
// of its own.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <cstddef>
#include <cstdlib>

#if COGWHEEL_WINDOWS
#include <malloc.h>
#endif

namespace cogwheel_tests {

/// Takes `bytes`, rounded up to a multiple of `alignment`; at least one. Returns null if there is no memory.
inline void* take_aligned(std::size_t alignment, std::size_t bytes) noexcept {
    const std::size_t rounded = bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
#if COGWHEEL_WINDOWS
    return ::_aligned_malloc(rounded, alignment);
#else
    return std::aligned_alloc(alignment, rounded);
#endif
}

inline void free_aligned(void* memory) noexcept {
#if COGWHEEL_WINDOWS
    ::_aligned_free(memory);
#else
    std::free(memory);
#endif
}

} // namespace cogwheel_tests
