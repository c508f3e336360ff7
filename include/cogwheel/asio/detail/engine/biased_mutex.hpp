// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The mutex of a wheel. Most wheels have one thread, the owner. It locks without a locked instruction: it stores that
// it is inside, and looks whether it still is the owner. All other threads exchange a word.
//
// - A thread that finds the mutex biased to another thread revokes the bias: it takes the word, and then the ownership.
//   Neither thread may overlook the store of the other. Usually each side needs a fence for that (Dekker's algorithm).
//   Here the revoking thread gets both fences by membarrier(2), in some microseconds.
// - Without an owner, lock() costs one locked instruction, and unlock() a store. std::mutex needs two locked
//   instructions. Each one makes the cache misses of two timers wait for each other.
// - Each owner has its own flag for "inside". A thread that is no longer the owner takes its store back, and by then
//   there may be another owner. A mutex has at most four owners in its life.
// - At the end of each turn, the wheel offers the ownership to the thread that runs it (consider_bias()). The thread
//   gets it if no other thread has locked during the last turns. A revocation doubles that number of turns, unless the
//   former owner had the mutex for so long that the bias was worth the revocation.
// - A thread that finds the mutex locked looks again after 0.4 us, then after longer and longer pauses. After about
//   0.13 ms it sleeps, to leave the processor to the thread that holds the mutex. membarrier(2) makes sure that
//   unlock() does not overlook the sleeper. Without membarrier(2), unlock() has a fence, and the mutex no owner.
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

/// Returns the address of the thread's control block, which no other running thread has. Zero if it is not known here.
COGWHEEL_ALWAYS_INLINE inline std::uintptr_t this_thread_block() noexcept {
    std::uintptr_t at = 0;
    // Volatile, because a coroutine may continue on another thread, whose address differs.
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
    /// Also returns false if the mutex is free, but another thread is its owner: lock() then revokes the bias.
    COGWHEEL_ALWAYS_INLINE bool try_lock() noexcept {
        const std::uintptr_t me = this_thread_block(), owner = owner_.load(std::memory_order_relaxed);
        if (const std::uintptr_t number = owner ^ me; number < most_owners) [[likely]] {
            std::atomic<bool>& inside = inside_[number];
            // Acquires the stores of an ended thread that had the address of this one.
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
            bias_->store(false, std::memory_order_release); // a waiting thread looks again by itself
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
    /// Returns true if the mutex has an owner. Preconditions: this thread has locked it.
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

    // The address of the owner, with its number in the low bits. Only the thread that has the word changes it.
    std::atomic<std::uintptr_t> owner_{nobody};
    std::atomic<bool>* bias_ = nullptr; // the owner's, if there is one: the mutex guards this, and all after sleepers_
    std::array<std::atomic<bool>, most_owners> inside_{}; // the owner has the mutex, or asks whether it still is one
    std::atomic<word> word_{unlocked};
    std::atomic<word> sleepers_;
    std::uint32_t quiet_turns_ = 0, needed_turns_ = 0;
    std::uintptr_t last_ = 0;   // the thread that asked for a bias last
    std::uintptr_t others_ = 0; // not zero: another thread has locked since then
    std::array<std::uintptr_t, most_owners> owners_{};
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
