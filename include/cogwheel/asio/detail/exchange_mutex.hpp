// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The mutex of a wheel. To lock and unlock it costs one locked instruction, where std::mutex needs two. A locked
// instruction waits for the stores before it, so a second one makes the cache misses of two timers wait for each other.
//
// - lock() exchanges a word, unlock() stores to it.
// - A thread that finds the mutex locked looks again after 0.4 us, then after longer and longer pauses. After about
//   0.13 ms it sleeps, so that it does not take the processor away from the thread that holds the mutex.
// - unlock() must not overlook a thread that is about to sleep. Usually each side needs a fence for that: its store
//   before its load (Dekker's algorithm). Here membarrier(2) gives the thread that sleeps both fences, so that unlock()
//   needs none. Where the kernel has no membarrier(2), unlock() has a fence.
// Not fair, as std::mutex. Not recursive. Without Linux, multi_threaded uses std::mutex (locking.hpp).
#pragma once

#include <atomic>
#include <cstdint>

namespace cogwheel::inline v0::detail {

/// Meets the standard's Lockable requirements.
/// Lifetime: unlock() reads the mutex after another thread may have locked it. So the last owner must not destroy it
/// while another unlock() may still run: a wheel's mutex lives as long as its execution context.
class exchange_mutex {
public:
    exchange_mutex() noexcept : exchange_mutex(register_barrier()) {}
    /// `has_barrier`: the process may use membarrier(2).
    explicit exchange_mutex(bool has_barrier) noexcept : sleepers_(has_barrier ? 0 : without_barrier) {}
    exchange_mutex(const exchange_mutex&) = delete;
    exchange_mutex& operator=(const exchange_mutex&) = delete;

    [[gnu::always_inline]] void lock() noexcept {
        if (word_.exchange(locked, std::memory_order_acquire) != unlocked) [[unlikely]]
            lock_slowly();
    }
    [[gnu::always_inline]] bool try_lock() noexcept {
        return word_.exchange(locked, std::memory_order_acquire) == unlocked;
    }
    [[gnu::always_inline]] void unlock() noexcept {
        if (release()) [[unlikely]]
            wake_one();
    }
    /// Unlocks. If this returns true, a thread may sleep: then call wake_one().
    [[gnu::always_inline]] bool release() noexcept {
        word_.store(unlocked, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst); // the compiler must not exchange these two
        return sleepers_.load(std::memory_order_relaxed) != 0;
    }
    void wake_one() noexcept;

private:
    using word = std::uint32_t; // of futex(2)
    static constexpr word unlocked = 0, locked = 1;

    static constexpr word without_barrier = word{1} << 31; // in sleepers_: each unlock() needs a fence

    bool lock_soon() noexcept;
    void lock_slowly() noexcept;
    static bool register_barrier() noexcept;

    std::atomic<word> word_{unlocked};
    std::atomic<word> sleepers_;
};

} // namespace cogwheel::inline v0::detail
