// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What was found: printed at once, the first few of them. A run that found something ends as soon as it can.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace stress {

class findings {
public:
    static bool any() noexcept { return count_.load(std::memory_order_relaxed) != 0; }
    static std::uint64_t count() noexcept { return count_; }

    template <class... Args>
    static void add(fmt::format_string<Args...> format, Args&&... args) {
        constexpr std::uint64_t printed = 20;
        if (count_.fetch_add(1) >= printed) return;
        fmt::print(stderr, "VIOLATION: {}\n", fmt::format(format, std::forward<Args>(args)...));
    }

private:
    static inline std::atomic<std::uint64_t> count_{0};
};

} // namespace stress
