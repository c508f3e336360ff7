// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who may call a wheel: a policy, so that the same code serves both.
#pragma once

#include <mutex>

namespace cogwheel {

/// Any thread, as with all Asio timers of one context.
struct multi_threaded {
    static constexpr bool concurrent = true;
    using mutex = std::mutex;
};

/// One thread or one strand: no lock is taken.
struct single_threaded {
    static constexpr bool concurrent = false;

    struct mutex {
        void lock() noexcept {}
        void unlock() noexcept {}
        bool try_lock() noexcept { return true; }
    };
};

} // namespace cogwheel
