// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The mutex of a wheel. Most wheels are used by one thread. For that thread, the owner, locking costs no locked
// instruction: it stores that it is inside, and looks whether it still is the owner. All other threads exchange a word.
//
// - Whoever finds the mutex biased to another thread revokes that: it takes the word, and then the ownership. The owner
//   must not overlook this, nor the other one that the owner is inside. Usually each side needs a fence for that
//   (Dekker's algorithm). Here membarrier(2) gives the thread that revokes both fences. It takes some microseconds.
// - Without an owner, to lock costs one locked instruction, and unlock() stores. std::mutex needs two of them. Each one
//   makes the cache misses of two timers wait for each other.
// - Each owner has a flag of its own for "inside": one that finds that it no longer is the owner takes its store back,
//   and by then there may be another owner. So there are at most four owners in the life of a mutex.
// - At the end of each turn, the wheel offers the ownership to the thread that runs it (consider_bias()). It gets it
//   if it alone has locked since the last turns. After a revocation, twice as many turns are needed, unless the former
//   owner had it for so long that this was worth a revocation.
// - A thread that finds the mutex locked looks again after 0.4 us, then after longer and longer pauses. After about
//   0.13 ms it sleeps, so that it does not take the processor away from the thread that holds the mutex. By
//   membarrier(2), unlock() does not overlook it. Where the kernel has no membarrier(2), unlock() has a fence, and the
//   mutex no owner.
// Not fair, as std::mutex. Not recursive. Without Linux, multi_threaded uses std::mutex (locking.hpp).
// Sources: Kawachiya, Koseki, Onodera, "Lock reservation" (OOPSLA 2002); Dice, Moir, Scherer, "Quickly reacquirable
// locks" (2002); docs/adr/0015.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Names a thread by the address of its thread control block: an address that it alone has as long as it runs. Zero if
/// that is not known here.
COGWHEEL_ALWAYS_INLINE inline std::uintptr_t this_thread_block() noexcept {
    std::uintptr_t at = 0;
    // Volatile: a coroutine may go on on another thread, and must not remember the address of the last one.
#if COGWHEEL_X86_64
    asm volatile("mov {%%fs:0, %0|%0, fs:[0]}" : "=r"(at)); // the second one for -masm=intel
#elif COGWHEEL_AARCH64
    asm volatile("mrs %0, tpidr_el0" : "=r"(at));
#endif
    return at;
}

/// Meets the standard's Lockable requirements.
/// Lifetime: unlock() reads the mutex after another thread may have locked it. So the last owner must not destroy it
/// while another unlock() may still run: a wheel's mutex lives as long as its execution context.
class biased_mutex {
public:
    biased_mutex() noexcept : biased_mutex(register_barrier()) {}
    /// `has_barrier`: the process may use membarrier(2).
    explicit biased_mutex(bool has_barrier) noexcept : sleepers_(has_barrier ? 0 : without_barrier) {}
    biased_mutex(const biased_mutex&) = delete;
    biased_mutex& operator=(const biased_mutex&) = delete;

    [[gnu::noinline]] void lock() noexcept { // short paths use try_lock()
        if (!try_lock()) [[unlikely]]
            lock_slowly();
    }
    /// Returns false also if no thread has the mutex, but another one is its owner: lock() then revokes that.
    COGWHEEL_ALWAYS_INLINE bool try_lock() noexcept {
        const std::uintptr_t me = this_thread_block(), owner = owner_.load(std::memory_order_relaxed);
        if (const std::uintptr_t number = owner ^ me; number < most_owners) [[likely]] {
            std::atomic<bool>& inside = inside_[number];
            // Acquires what another thread did that had the address of this one, and has ended.
            [[maybe_unused]] const bool again = inside.load(std::memory_order_acquire);
            COGWHEEL_ASSERT(!again && "not recursive");
            inside.store(true, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst); // the compiler must not exchange these two
            if (owner_.load(std::memory_order_relaxed) == owner) [[likely]]
                return true;
            inside.store(false, std::memory_order_release);
            return false;
        }
        word before = unlocked;
        if (!word_.compare_exchange_strong(before, locked, std::memory_order_acquire, std::memory_order_relaxed))
            [[unlikely]]
            return false;
        note(me);
        return true;
    }
    COGWHEEL_ALWAYS_INLINE void unlock() noexcept {
        if (release()) [[unlikely]]
            wake_one();
    }
    /// Unlocks. If this returns true, a thread may sleep: then call wake_one().
    COGWHEEL_ALWAYS_INLINE bool release() noexcept {
        if (bias_ != nullptr) [[likely]] {
            bias_->store(false, std::memory_order_release); // who waits for this looks again by itself
            return false;
        }
        word_.store(unlocked, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst); // as above
        return sleepers_.load(std::memory_order_relaxed) != 0;
    }
    void wake_one() noexcept;

    /// Makes this thread the owner if it alone has locked the mutex for long enough; the first time, at once.
    /// Preconditions: this thread has locked the mutex.
    COGWHEEL_ALWAYS_INLINE void consider_bias() noexcept {
        if (bias_ == nullptr)
            bias_if_alone();
        else
            ++quiet_turns_;
    }
    /// Returns whether the mutex has an owner. Preconditions: this thread has locked it.
    bool is_biased() const noexcept { return bias_ != nullptr; }

private:
    friend struct mutex_access;

    using word = std::uint32_t; // of futex(2)
    static constexpr word unlocked = 0, locked = 1, biased = 2;
    static constexpr std::uintptr_t nobody = ~std::uintptr_t{0}; // no thread's

    static constexpr word without_barrier = word{1} << 31; // in sleepers_: each unlock() needs a fence

    COGWHEEL_ALWAYS_INLINE void note(std::uintptr_t me) noexcept { others_ |= me ^ last_; }
    bool take() noexcept;
    bool lock_soon() noexcept;
    void lock_slowly() noexcept;
    void revoke() noexcept;
    void bias_if_alone() noexcept;
    std::uintptr_t number_of(std::uintptr_t thread) noexcept;
    static bool register_barrier() noexcept;

    static constexpr std::uintptr_t most_owners = 4; // a thread's address is a multiple of this

    // The address of the owner, with its number in the low bits. Only who has the word changes it.
    std::atomic<std::uintptr_t> owner_{nobody};
    std::atomic<bool>* bias_ = nullptr; // the owner's, if there is one: the mutex guards this, and all after sleepers_
    std::array<std::atomic<bool>, most_owners> inside_{}; // the owner has the mutex, or asks whether it still is one
    std::atomic<word> word_{unlocked};
    std::atomic<word> sleepers_;
    std::uint32_t quiet_turns_ = 0, needed_turns_ = 0;
    std::uintptr_t last_ = 0;   // who has asked for a bias last
    std::uintptr_t others_ = 0; // not zero: another thread has locked since then
    std::array<std::uintptr_t, most_owners> owners_{};
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
