// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <mutex>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Holds a mutex until the end of the scope. Like std::unique_lock, but without checks that can throw, which would be
/// in functions of each handler type. It cannot be moved.
/// Preconditions: the lock has a mutex; lock() only while it is unlocked, unlock() only while it is locked.
template <class Mutex>
class [[nodiscard]] unchecked_lock {
public:
    using mutex_type = Mutex;

    /// Makes a lock without a mutex.
    unchecked_lock() noexcept = default;
    explicit unchecked_lock(Mutex& mutex) : mutex_(&mutex) { lock(); }
    unchecked_lock(Mutex& mutex, std::adopt_lock_t) noexcept : mutex_(&mutex), owns_(true) {}
    unchecked_lock(const unchecked_lock&) = delete;
    unchecked_lock& operator=(const unchecked_lock&) = delete;
    ~unchecked_lock() {
        if (owns_) mutex_->unlock();
    }

    void lock() {
        mutex_->lock();
        owns_ = true;
    }
    void unlock() noexcept {
        owns_ = false;
        mutex_->unlock();
    }
    /// Leaves the mutex locked.
    void release() noexcept { owns_ = false; }
    bool owns_lock() const noexcept { return owns_; }

private:
    Mutex* mutex_ = nullptr;
    bool owns_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
