// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The locking policies of a wheel: they say which threads may call it.
//
//     using my_wheel = cogwheel::basic_timer_wheel<std::chrono::system_clock, cogwheel::single_threaded>;
#pragma once

#include <mutex>

namespace cogwheel {

/// Any thread may call the wheel, as any thread may use different Asio timers of one context.
struct multi_threaded {
    static constexpr bool concurrent = true;
    using mutex = std::mutex;
};

/// One thread or one strand calls the wheel. It takes no lock.
struct single_threaded {
    static constexpr bool concurrent = false;

    struct mutex {
        void lock() noexcept {}
        void unlock() noexcept {}
        bool try_lock() noexcept { return true; }
    };
};

} // namespace cogwheel
