// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How often the heap is asked, for how much, and a heap that says no. Replaces operator new: included by one file of a
// program. Asio's own memory is not counted: it comes from aligned_alloc, wherever Asio could tell that there is one.
#pragma once

#include "support/wheel/aligned_memory.hpp"

#include <cogwheel/detail/platform.hpp>

#include <cstddef>
#include <new>

namespace cogwheel_tests {

// Of this thread: others of the same executable are none of our business.
inline thread_local std::size_t allocations = 0, allocated_bytes = 0;
inline thread_local bool heap_fails = false;

// Of Asio, for each post() outside of run(): its memory comes from here where it does not find aligned_alloc.
#if COGWHEEL_WINDOWS || defined(_LIBCPP_VERSION)
inline constexpr std::size_t allocations_by_post = 1;
#else
inline constexpr std::size_t allocations_by_post = 0;
#endif

inline void* take_counted(std::size_t bytes, std::size_t alignment) {
    ++allocations;
    allocated_bytes += bytes;
    if (heap_fails) throw std::bad_alloc();
    if (void* p = take_aligned(alignment, bytes)) return p;
    throw std::bad_alloc();
}

} // namespace cogwheel_tests

// Not inlined, or the compiler sees free() on what it takes for its own new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    return cogwheel_tests::take_counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t a) {
    return cogwheel_tests::take_counted(bytes, static_cast<std::size_t>(a));
}
// All the forms in use: a sanitizer brings its own for those that are left out.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { cogwheel_tests::free_aligned(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { cogwheel_tests::free_aligned(p); }
[[gnu::noinline]] void operator delete(void* p) noexcept { cogwheel_tests::free_aligned(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { cogwheel_tests::free_aligned(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { cogwheel_tests::free_aligned(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    cogwheel_tests::free_aligned(p);
}
