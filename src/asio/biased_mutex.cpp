// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/asio/detail/engine/biased_mutex.hpp>
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX

#include <algorithm>
#include <chrono>
#include <ctime>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

namespace {

// A waiting thread looks after 0.4 us, then after twice as long each time, up to 26 us, and sleeps after about 0.13 ms.
// With more looks, two threads in a loop of operations would hand the wheel over after one or two operations. Each
// time, its cache lines move to another processor, and both threads together do half as much as one.
constexpr int looks = 10;
constexpr int first_pauses = 16, most_pauses = 1024; // about 25 ns each
constexpr std::uint32_t most_turns = 1 << 20;
constexpr std::uint32_t worthwhile_turns = 64; // a revocation takes some microseconds, 64 turns rarely less than 64 ms

void pause(int count) noexcept {
    for (int i = 0; i < count; ++i) {
#if COGWHEEL_X86_64 || COGWHEEL_I386
        __builtin_ia32_pause();
#elif COGWHEEL_AARCH64
        asm volatile("isb"); // "yield" takes no time
#endif
    }
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) noexcept {
    return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

// Not nanosleep(3), at which pthread_cancel() ends a thread. If a filter refuses the system call, reads a clock.
void sleep_for(std::chrono::nanoseconds time) noexcept {
    using clock = std::chrono::steady_clock;
    timespec left{0, static_cast<long>(time.count())};
    for (const auto end = clock::now() + time; ::syscall(SYS_nanosleep, &left, &left) != 0 && clock::now() < end;)
        pause(most_pauses);
}

} // namespace

// The kernel counts registrations per process; a second one costs little.
bool biased_mutex::register_barrier() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0; }

bool biased_mutex::lock_soon() noexcept {
    for (int i = 0, pauses = first_pauses; i < looks; ++i) {
        pause(pauses);
        if (pauses < most_pauses) pauses *= 2;
        // A load first: an exchange would take the cache line away from the thread that unlocks.
        if (word_.load(std::memory_order_relaxed) != locked && take()) return true;
    }
    return false;
}

// Takes the word if no thread has it, and then the ownership.
bool biased_mutex::take() noexcept {
    const word before = word_.exchange(locked, std::memory_order_seq_cst);
    if (before == locked) return false;
    if (before == biased) revoke();
    note(this_thread_block());
    return true;
}

// The owner stores that it is inside, then looks at owner_. This thread stores to owner_, then looks whether the owner
// is inside. In between, each running thread executes a fence. So if the owner still saw its name, this thread sees it
// inside.
[[gnu::cold]] void biased_mutex::revoke() noexcept {
    owner_.store(nobody, std::memory_order_seq_cst);
    // If the process has lost the right to the call, time is the fence: no processor keeps a store for so long.
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) sleep_for(std::chrono::milliseconds(1));
    for (int pauses = first_pauses; bias_->load(std::memory_order_acquire);) {
        if (pauses < most_pauses) {
            pause(pauses);
            pauses *= 2;
        } else {
            sleep_for(std::chrono::microseconds(50)); // the owner may wait for this processor
        }
    }
    bias_ = nullptr;
    needed_turns_ = quiet_turns_ >= worthwhile_turns ? 1 : std::min(2 * needed_turns_ + 1, most_turns);
    quiet_turns_ = 0;
}

[[gnu::noinline]] void biased_mutex::bias_if_alone() noexcept {
    const std::uintptr_t me = this_thread_block();
    const bool alone = needed_turns_ == 0 || (others_ == 0 && last_ == me);
    last_ = me;
    others_ = 0;
    quiet_turns_ = alone ? quiet_turns_ + 1 : 0;
    // A thread that sleeps, or is about to, would have to revoke the bias.
    if (quiet_turns_ <= needed_turns_ || sleepers_.load(std::memory_order_relaxed) != 0) return;
    const std::uintptr_t number = number_of(me);
    if (number == most_owners) return;
    quiet_turns_ = 0;
    bias_ = &inside_[number];
    bias_->store(true, std::memory_order_relaxed);
    owner_.store(me | number, std::memory_order_relaxed);
    word_.store(biased, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst); // as in release()
    if (sleepers_.load(std::memory_order_relaxed) != 0) wake_one();
}

[[gnu::noinline]] void biased_mutex::lock_slowly() noexcept {
    while (!lock_soon()) {
        const word before = sleepers_.fetch_add(1, std::memory_order_seq_cst);
        // Each running thread of the process executes a fence here. An unlock() has either stored `unlocked` before,
        // and this thread sees it; or it has yet to read sleepers_, and sees this thread. If the process has lost the
        // right to the call since the registration, this thread looks again after a moment.
        const bool fenced = (before & without_barrier) != 0 || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
        constexpr timespec moment{0, 1'000'000};
        const bool done = take();
        if (!done) futex(word_, FUTEX_WAIT, locked, fenced ? nullptr : &moment);
        // Otherwise each unlock() would be a system call, until this thread has the mutex.
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        if (done) return;
    }
}

// No other thread gets the number of a thread, which may have seen its name in owner_ and be about to store to its
// flag. It is past that only when it asks for a bias itself.
std::uintptr_t biased_mutex::number_of(std::uintptr_t thread) noexcept {
    if (thread == 0 || thread % most_owners != 0) return most_owners;
    std::uintptr_t number = 0;
    while (number < most_owners && owners_[number] != thread && owners_[number] != 0) ++number;
    if (number < most_owners) owners_[number] = thread;
    return number;
}

[[gnu::noinline]] void biased_mutex::wake_one() noexcept {
    // Without the barrier of lock_slowly(), a load could overlook a thread that is about to sleep. An addition cannot:
    // either it comes after that thread's own, or that thread sees the store of unlock().
    if ((sleepers_.fetch_add(0, std::memory_order_acq_rel) & ~without_barrier) != 0)
        futex(word_, FUTEX_WAKE, 1, nullptr);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

#endif
