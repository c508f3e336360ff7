// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which pages of this process the system keeps in memory. Linux.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

namespace cogwheel_tests {

/// Pages of the system, whole ones.
class page_set {
public:
    static std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

    /// The pages that hold a part of these bytes.
    void add(const void* begin, std::size_t bytes) {
        const auto from = reinterpret_cast<std::uintptr_t>(begin);
        for (std::uintptr_t at = from / page() * page(); at < from + bytes; at += page()) pages_.insert(at);
    }

    std::size_t size() const { return pages_.size(); }

    std::size_t resident() const {
        std::size_t count = 0;
        for (const std::uintptr_t at : pages_) {
            unsigned char state = 0;
            // NOLINTNEXTLINE(performance-no-int-to-ptr): mincore() asks for no more than the number
            if (::mincore(reinterpret_cast<void*>(at), page(), &state) != 0) throw std::runtime_error("mincore");
            count += state & 1;
        }
        return count;
    }

private:
    std::set<std::uintptr_t> pages_;
};

} // namespace cogwheel_tests
