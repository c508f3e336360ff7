// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A counting semaphore. Where there is no futex, those of libstdc++ 12, and its latch, may overlook a release.
#pragma once

#include <condition_variable>
#include <mutex>

namespace cogwheel_tests {

class semaphore {
public:
    explicit semaphore(int count) : count_(count) {}

    void release(int count = 1) {
        const std::lock_guard lock(mutex_);
        count_ += count;
        released_.notify_all();
    }
    void acquire() {
        std::unique_lock lock(mutex_);
        released_.wait(lock, [this] { return count_ > 0; });
        --count_;
    }

private:
    std::mutex mutex_;
    std::condition_variable released_;
    int count_;
};

} // namespace cogwheel_tests
