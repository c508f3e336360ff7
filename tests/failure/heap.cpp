// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "failure/heap.hpp"

#include <cstdlib>
#include <new>

extern "C" {
// The names that the linker looks for.
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes); // NOLINT
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes); // NOLINT
}

namespace {

bool armed = false;
std::size_t seen = 0, first_failure = 0, end_of_failures = 0, failed = 0;

bool fails_now() noexcept {
    if (!armed) return false;
    const std::size_t n = seen++;
    if (n < first_failure || n >= end_of_failures) return false;
    ++failed;
    return true;
}

void* take(std::size_t bytes, std::size_t alignment) noexcept {
    if (fails_now()) return nullptr;
    bytes = bytes == 0 ? 1 : bytes;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
    return __real_aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
    if (void* p = take(bytes, alignment)) return p;
    throw std::bad_alloc();
}

} // namespace

namespace failure {

void heap::fail(std::size_t first, std::size_t count) noexcept {
    seen = failed = 0;
    first_failure = first;
    end_of_failures = count > for_ever - first ? for_ever : first + count;
    armed = true;
}
void heap::recover() noexcept { armed = false; }
std::size_t heap::failures() noexcept { return failed; }

} // namespace failure

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) { // NOLINT
    return fails_now() ? nullptr : __real_aligned_alloc(alignment, bytes);
}

// All the forms in use: a sanitizer brings its own for those that are left out. Not inlined, or the compiler sees
// free() on what it takes for its own new.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return take_or_throw(bytes, 1); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return take_or_throw(bytes, 1); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t a) {
    return take_or_throw(bytes, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes, 1); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes, 1); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
