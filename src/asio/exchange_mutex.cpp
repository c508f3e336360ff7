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

// A thread that waits looks after 0.4 us, then after twice as long, up to 26 us, and sleeps after about 0.13 ms. If it
// looked more often, two threads in a loop of operations would hand the wheel over after one or two of them. Each time
// its cache lines change the processor, and both together get half as much done as one thread.
constexpr int looks = 10;
constexpr int first_pauses = 16, most_pauses = 1024; // about 25 ns each

void pause(int count) noexcept {
    for (int i = 0; i < count; ++i) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb"); // "yield" takes no time
#endif
    }
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) noexcept {
    return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

} // namespace

// The kernel counts registrations per process; a second one costs little.
bool exchange_mutex::register_barrier() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0; }

bool exchange_mutex::lock_soon() noexcept {
    for (int i = 0, pauses = first_pauses; i < looks; ++i) {
        pause(pauses);
        if (pauses < most_pauses) pauses *= 2;
        // A load first: an exchange would take the cache line away from the thread that unlocks.
        if (word_.load(std::memory_order_relaxed) == unlocked && try_lock()) return true;
    }
    return false;
}

[[gnu::noinline]] void exchange_mutex::lock_slowly() noexcept {
    while (!lock_soon()) {
        const word before = sleepers_.fetch_add(1, std::memory_order_seq_cst);
        // Each running thread of the process executes a fence here. So each unlock() has either stored `unlocked`
        // before, and this thread sees it; or it has yet to read sleepers_, and sees this thread. If the process has
        // lost the right to the call since the registration, this thread looks again after a moment.
        const bool fenced = (before & without_barrier) != 0 || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
        constexpr timespec moment{0, 1'000'000};
        const bool done = word_.exchange(locked, std::memory_order_seq_cst) == unlocked;
        if (!done) futex(word_, FUTEX_WAIT, locked, fenced ? nullptr : &moment);
        // Awake, it is no sleeper: otherwise each unlock() until it has the mutex would be a system call.
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        if (done) return;
    }
}

[[gnu::noinline]] void exchange_mutex::wake_one() noexcept {
    // Without the barrier of lock_slowly(), a load could overlook a thread that is about to sleep. An addition cannot:
    // either it comes after that thread's own, or that thread sees the store of unlock().
    if ((sleepers_.fetch_add(0, std::memory_order_acq_rel) & ~without_barrier) != 0)
        futex(word_, FUTEX_WAKE, 1, nullptr);
}

} // namespace cogwheel::inline v0::detail

#endif
