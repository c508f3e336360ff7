// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A heap that runs out of memory on demand: for some allocations in a row, or until it is told to have some again. It
// sees operator new and the aligned_alloc of Asio (the linker's --wrap). For one thread.
#pragma once

#include <cstddef>
#include <limits>

namespace failure {

inline constexpr std::size_t for_ever = std::numeric_limits<std::size_t>::max();

class heap {
public:
    /// From now on allocation number `first` fails, and those after it, `count` in all.
    static void fail(std::size_t first, std::size_t count) noexcept;
    /// Memory is back.
    static void recover() noexcept;
    /// Since fail().
    static std::size_t failures() noexcept;
};

} // namespace failure
