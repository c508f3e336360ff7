// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tells other threads that this thread is busy, and lets them wait for the end.
#pragma once

#include <cogwheel/detail/platform.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class busy_flag {
public:
    void set() noexcept { busy_ = true; }
    void clear() noexcept {
        busy_ = false;
        busy_.notify_all();
    }
    void wait() const noexcept {
#if COGWHEEL_LINUX
        busy_.wait(true);
#else
        // Without futexes, the wait() of libstdc++ 12 may overlook notify_all().
        while (busy_) std::this_thread::sleep_for(std::chrono::microseconds(50));
#endif
    }

private:
    std::atomic<bool> busy_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
