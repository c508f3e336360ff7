// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/asio/detail/exchange_mutex.hpp>

#ifdef __linux__

#include <ctime>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cogwheel::inline v0::detail {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

namespace {

constexpr int tries = 64; // with a pause each, about 2 us

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    asm volatile("yield");
#endif
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) noexcept {
    return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

} // namespace

// The kernel counts registrations per process; a second one costs little.
bool exchange_mutex::register_barrier() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0; }

[[gnu::noinline]] void exchange_mutex::lock_slowly() noexcept {
    for (int i = 0; i < tries; ++i) {
        pause();
        // A load first: an exchange would take the cache line away from the thread that unlocks.
        if (word_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    // Each running thread of the process executes a fence here. So each unlock() has either stored `unlocked` before,
    // and this thread sees it; or it has yet to read sleepers_, and sees this thread. If the process has lost the right
    // to the call since the registration, this thread looks again after a moment.
    const bool fenced = needs_fence_ || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    constexpr timespec moment{0, 1'000'000};
    while (word_.exchange(locked, std::memory_order_seq_cst) != unlocked)
        futex(word_, FUTEX_WAIT, locked, fenced ? nullptr : &moment);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void exchange_mutex::unlock_with_fence() noexcept {
    word_.exchange(unlocked, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_one();
}

[[gnu::noinline]] void exchange_mutex::wake_one() noexcept { futex(word_, FUTEX_WAKE, 1, nullptr); }

} // namespace cogwheel::inline v0::detail

#endif
