// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See slab_memory.hpp.
#include <cogwheel/wheel/detail/slab_memory.hpp>

#include <algorithm>
#include <cassert>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace cogwheel::detail {

std::byte* slab_memory::take(std::size_t bytes) {
    assert(bytes % system_page == 0);
    if (bytes > rest_bytes_) add_slab(bytes);
    std::byte* piece = rest_;
    rest_ += bytes;
    rest_bytes_ -= bytes;
    return piece;
}

void slab_memory::add_slab(std::size_t bytes) {
    // An eighth of what there is: neither a small wheel nor a large one holds much that it does not use.
    const std::size_t wanted = std::max(std::min(footprint_ / 8, max_slab) / bytes * bytes, bytes);
    const std::size_t alignment = huge_ ? huge_page : system_page;
    const std::size_t size = (wanted + alignment - 1) / alignment * alignment;
    if (slabs_.size() == slabs_.capacity()) slabs_.reserve(std::max<std::size_t>(16, 2 * slabs_.size()));
    rest_ = static_cast<std::byte*>(::operator new(size, std::align_val_t(alignment)));
    slabs_.push_back({rest_, alignment});
    rest_bytes_ = size;
    footprint_ += size;
#ifdef MADV_HUGEPAGE
    if (huge_) (void)::madvise(rest_, size, MADV_HUGEPAGE); // fails where there are none
#endif
}

void slab_memory::give_back([[maybe_unused]] std::byte* piece, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __linux__
    // Of private memory: the pages are gone at once, and come back zeroed (madvise(2)). It may fail where memory is locked; then it
    // stays.
    (void)::madvise(piece, bytes, MADV_DONTNEED);
#endif
}

void slab_memory::release() noexcept {
    for (const slab& s : slabs_) ::operator delete(s.memory, std::align_val_t(s.alignment));
    slabs_.clear();
    slabs_.shrink_to_fit();
    rest_ = nullptr;
    rest_bytes_ = footprint_ = 0;
}

} // namespace cogwheel::detail
