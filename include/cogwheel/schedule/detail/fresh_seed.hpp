// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A seed for those who bring no generator of their own.
#pragma once

#include <cstdint>
#include <random>

namespace cogwheel::detail {

/// 64 bits of the system's randomness. Errors: std::random_device's.
inline std::uint64_t fresh_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

} // namespace cogwheel::detail
