// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Memory that is taken for good, and whose unused parts can go back to the system all the same: their addresses stay ours, the pages
// behind them do not.
#pragma once

#include <cstddef>
#include <vector>

namespace cogwheel::detail {

/// Pieces of page-aligned memory, cut from slabs of operator new that grow with what is in use. Not thread-safe.
class slab_memory {
public:
    static constexpr std::size_t system_page = 4096; ///< or a divisor of it; larger ones stay with us
    static constexpr std::size_t max_slab =
        8 * 1024 * 1024; ///< unless a piece is larger; a slab keeps a page of its own to the end
    static constexpr std::size_t huge_page = 2 * 1024 * 1024;

    slab_memory() = default;
    slab_memory(const slab_memory&) = delete;
    slab_memory& operator=(const slab_memory&) = delete;
    ~slab_memory() { release(); }

    /// Later slabs are whole huge pages, if the system has them to give (Linux: transparent huge pages; else as usual).
    void prefer_huge_pages(bool on) noexcept { huge_ = on; }

    /// A piece of memory, uninitialised. Preconditions: bytes is a multiple of system_page. Errors: std::bad_alloc; nothing changes.
    std::byte* take(std::size_t bytes);

    /// Says that what a piece holds is not needed any more. It stays ours, and reads as anything. Complexity: a system call.
    static void give_back(std::byte* piece, std::size_t bytes) noexcept;

    /// Everything, to the heap.
    void release() noexcept;

    std::size_t footprint() const noexcept { return footprint_; }

private:
    struct slab {
        std::byte* memory;
        std::size_t alignment;
    };

    void add_slab(std::size_t bytes);

    std::vector<slab> slabs_;
    std::byte* rest_ = nullptr; // of the last slab
    std::size_t rest_bytes_ = 0;
    bool huge_ = false;
    std::size_t footprint_ = 0;
};

} // namespace cogwheel::detail
