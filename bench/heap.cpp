// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Counts what is asked of the heap, by whatever name: the program's own malloc stands in front of glibc's.
#include "machine.hpp"

#include <atomic>
#include <cerrno>

extern "C" {
void* __libc_malloc(std::size_t size);                          // NOLINT: glibc's name
void* __libc_memalign(std::size_t alignment, std::size_t size); // NOLINT: glibc's name
}

namespace {

// Of several threads a count may get lost: a locked increment would cost whoever allocates more than the allocation.
std::atomic<std::uint64_t> calls{0};

void count() noexcept { calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

} // namespace

extern "C" {

void* malloc(std::size_t size) {
    count();
    return __libc_malloc(size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory != nullptr ? 0 : ENOMEM;
}

} // extern "C"

std::uint64_t bench::mallocs() { return calls.load(std::memory_order_relaxed); }
