// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Memory for tables that keep their addresses. The pages of unused parts can go back to the system.
#pragma once

#include <cogwheel/wheel/work_budget.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Cuts page-aligned pieces from slabs, which come from operator new. The slabs grow with footprint(). Not thread-safe.
class slab_memory {
public:
    static constexpr std::size_t alignment = 4096; ///< bytes; for each piece

    /// The largest slab in bytes, unless a piece is larger. Each slab keeps one page in memory until release().
    static constexpr std::size_t max_slab = 8 * 1024 * 1024;
    static constexpr std::size_t huge_page = 2 * 1024 * 1024;

    slab_memory() = default;
    slab_memory(const slab_memory&) = delete;
    slab_memory& operator=(const slab_memory&) = delete;
    ~slab_memory() { release(); }

    /// Makes later slabs consist of whole huge pages, where the system has them (Linux: transparent huge pages).
    void prefer_huge_pages(bool on) noexcept { huge_ = on; }

    /// Returns a piece of uninitialised memory.
    /// Preconditions: bytes is a multiple of `alignment`. Errors: std::bad_alloc; then nothing changes.
    std::byte* take(std::size_t bytes);

    /// Releases unused pieces. Their addresses stay reserved; their contents become undefined. The caller adds the
    /// pieces in order of address. Adjacent pieces form a run, of which only whole pages (or whole huge pages) go back
    /// to the system. Complexity: one system call per run.
    class return_run {
    public:
        explicit return_run(const slab_memory& memory) noexcept : huge_(memory.huge_) {}
        return_run(const return_run&) = delete;
        return_run& operator=(const return_run&) = delete;
        ~return_run() { flush(); }

        /// Returns true if the run ends with a whole page. A trim stops only there: a part of a page stays in memory.
        bool is_whole() const noexcept { return reinterpret_cast<std::uintptr_t>(end_) % page_size() == 0; }

        void add(std::byte* piece, std::size_t bytes) noexcept {
            if (piece != end_) {
                flush();
                begin_ = piece;
            }
            end_ = piece + bytes;
        }

    private:
        std::size_t page_size() const noexcept;
        void flush() noexcept;

        bool huge_;
        std::byte* begin_ = nullptr;
        std::byte* end_ = nullptr;
    };

    /// Returns the cost of giving this number of bytes back to the system: about 0.1 us for each 4 kB.
    static constexpr std::int64_t price(std::size_t bytes) noexcept {
        return static_cast<std::int64_t>(bytes / 4096) * 128 * work_budget::slot;
    }

    /// Frees all slabs. Preconditions: no piece is in use.
    void release() noexcept;

    std::size_t footprint() const noexcept { return footprint_; }

private:
    struct slab {
        std::byte* memory;
        std::size_t alignment;
    };

    void add_slab(std::size_t bytes);

    std::vector<slab> slabs_;
    std::byte* rest_ = nullptr; // the unused part of the last slab
    std::size_t rest_bytes_ = 0;
    bool huge_ = false;
    std::size_t footprint_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
