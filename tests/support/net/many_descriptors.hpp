// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Room for many sockets in one process.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <algorithm>
#include <cstddef>

#if !COGWHEEL_WINDOWS
#include <sys/resource.h>
#endif

namespace cogwheel_tests {

/// Lets the process open `wanted` descriptors. Returns how many it may open, `wanted` at most.
inline std::size_t allow_descriptors(std::size_t wanted) {
#if COGWHEEL_WINDOWS
    return wanted;
#else
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return std::min<std::size_t>(wanted, limit.rlim_cur);
#endif
}

} // namespace cogwheel_tests
