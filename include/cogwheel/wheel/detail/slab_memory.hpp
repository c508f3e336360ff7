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
    static constexpr std::size_t alignment = 4096; ///< of every piece
    static constexpr std::size_t max_slab =
        8 * 1024 * 1024; ///< unless a piece is larger; a slab keeps a page of its own to the end
    static constexpr std::size_t huge_page = 2 * 1024 * 1024;

    slab_memory() = default;
    slab_memory(const slab_memory&) = delete;
    slab_memory& operator=(const slab_memory&) = delete;
    ~slab_memory() { release(); }

    /// Slabs that are added from here on are whole huge pages, if the system has them to give (Linux: transparent huge pages; else as usual).
    void prefer_huge_pages(bool on) noexcept { huge_ = on; }

    /// A piece of memory, uninitialised. Preconditions: bytes is a multiple of `alignment`. Errors: std::bad_alloc; nothing changes.
    std::byte* take(std::size_t bytes);

    /// What is told of pieces, in order of address, that nobody needs any more: they stay ours, but read as anything. Neighbours go back to
    /// the system together, in whole pages of its own, or whole huge ones; what is left over at the ends stays in memory.
    /// Complexity: a system call a run of neighbours.
    class return_run {
    public:
        explicit return_run(const slab_memory& memory) noexcept : huge_(memory.huge_) {}
        return_run(const return_run&) = delete;
        return_run& operator=(const return_run&) = delete;
        ~return_run() { flush(); }

        void add(std::byte* piece, std::size_t bytes) noexcept {
            if (piece != end_) {
                flush();
                begin_ = piece;
            }
            end_ = piece + bytes;
        }

    private:
        void flush() noexcept;

        bool huge_;
        std::byte* begin_ = nullptr;
        std::byte* end_ = nullptr;
    };

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
