// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Takes slabs from operator new, and gives unused pages back by madvise().
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/wheel/detail/slab_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <new>

#if COGWHEEL_LINUX
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace cogwheel::COGWHEEL_ABI::detail {

std::byte* slab_memory::take(std::size_t bytes) {
    COGWHEEL_ASSERT(bytes % alignment == 0);
    if (bytes > rest_bytes_) add_slab(bytes);
    std::byte* piece = rest_;
    rest_ += bytes;
    rest_bytes_ -= bytes;
    return piece;
}

void slab_memory::add_slab(std::size_t bytes) {
    // A slab has an eighth of the memory so far, so that its unused part is small in relation to the wheel.
    const std::size_t wanted = std::max(std::min(footprint_ / 8, max_slab) / bytes * bytes, bytes);
    const std::size_t aligned_to = huge_ ? huge_page : alignment;
    const std::size_t size = (wanted + aligned_to - 1) / aligned_to * aligned_to;
    if (slabs_.size() == slabs_.capacity()) slabs_.reserve(std::max<std::size_t>(16, 2 * slabs_.size()));
    rest_ = static_cast<std::byte*>(::operator new(size, std::align_val_t(aligned_to)));
    slabs_.push_back({rest_, aligned_to});
    rest_bytes_ = size;
    footprint_ += size;
#ifdef MADV_HUGEPAGE
    if (huge_) (void)::madvise(rest_, size, MADV_HUGEPAGE); // fails on systems without huge pages: no harm
#endif
}

// The release of a part of a huge page would split it into small pages.
std::size_t slab_memory::return_run::page_size() const noexcept {
#if COGWHEEL_LINUX
    static const auto system_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return huge_ ? std::max(huge_page, system_page) : system_page;
#else
    return 1;
#endif
}

void slab_memory::return_run::flush() noexcept {
#if COGWHEEL_LINUX
    const std::uintptr_t page = page_size();
    const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin_) + page - 1) / page * page;
    const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(end_) / page * page;
    // Later accesses find zeros, as the memory is private (madvise(2)). The call may fail for locked memory.
    if (from < to)
        (void)::madvise(begin_ + (from - reinterpret_cast<std::uintptr_t>(begin_)), to - from, MADV_DONTNEED);
#endif
}

void slab_memory::release() noexcept {
    for (const slab& s : slabs_) ::operator delete(s.memory, std::align_val_t(s.alignment));
    slabs_.clear();
    slabs_.shrink_to_fit();
    rest_ = nullptr;
    rest_bytes_ = footprint_ = 0;
}

} // namespace cogwheel::COGWHEEL_ABI::detail
