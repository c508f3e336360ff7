// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a connection counts as idle, and what is said of it then. The semantics are those of Netty's IdleStateHandler.
#pragma once

#include <chrono>
#include <cstdint>

namespace cogwheel {

enum class idle_kind : unsigned char {
    reader, ///< nothing has been read
    writer, ///< no write has completed
    all,    ///< neither
};

struct idle_limits {
    /// How long is idle, a limit for each kind. Zero or less: that kind is off.
    std::chrono::nanoseconds reader{};
    std::chrono::nanoseconds writer{};
    std::chrono::nanoseconds all{};

    /// Each period is lengthened by a random part of up to this share of it, so that connections which fell silent together are
    /// not found idle together. 0 .. 1. Never shortened: no event is early.
    double jitter = 0;

    /// Of the random parts. 0: one of its own for each connection; else the same seed gives the same periods.
    std::uint64_t seed = 0;

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

struct idle_event {
    idle_kind kind{};
    bool first = false; ///< of its kind since the last activity; it repeats each period
    std::chrono::nanoseconds idle_for{};
};

} // namespace cogwheel
