// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The locking policies of a wheel: they say which threads may call it.
//
//     using my_wheel = cogwheel::basic_timer_wheel<std::chrono::system_clock, cogwheel::single_threaded>;
#pragma once

#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_FUTEX
#include <cogwheel/asio/detail/engine/biased_mutex.hpp>
#else
#include <mutex>
#endif

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Several threads may call a wheel's functions at the same time, except to move or destroy it.
struct multi_threaded {
    static constexpr bool concurrent = true;
#if COGWHEEL_FUTEX
    using mutex = detail::biased_mutex;
#else
    using mutex = std::mutex;
#endif
};

/// Only one thread or one strand may call the wheel and run its turns. The wheel has no lock of its own.
struct single_threaded {
    static constexpr bool concurrent = false;

    struct mutex {
        void lock() noexcept {}
        void unlock() noexcept {}
        bool try_lock() noexcept { return true; }
    };
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
