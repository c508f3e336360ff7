// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The mutex of a wheel after fork(): the child has the one thread that called it, and the right to membarrier(2) of its
// parent. The owner of the mutex may be a thread that the child does not have.
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX

#include "support/forked.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/detail/engine/biased_mutex.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include <linux/membarrier.h>
#include <sys/syscall.h>

using cogwheel::detail::biased_mutex;
using cogwheel_tests::forked;

namespace {

bool may_fence() { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }

/// A turn of a wheel. Returns whether the mutex has an owner then.
bool turn_of_process(biased_mutex& mutex) {
    const std::lock_guard lock(mutex);
    mutex.consider_bias();
    return mutex.is_biased();
}

} // namespace

TEST_CASE("mutex_keeps_its_owner_and_its_barrier_in_a_child_process") {
    biased_mutex mutex;
    const bool biased = turn_of_process(mutex);
    const bool fenced = may_fence();
    forked child([&] { return may_fence() == fenced && turn_of_process(mutex) == biased; });
    CHECK(child.result() == 0);
}

TEST_CASE("mutex_of_an_owner_that_the_child_process_does_not_have_is_taken_over") {
    biased_mutex mutex;
    std::atomic<bool> owned = false, over = false;
    std::thread owner([&] {
        turn_of_process(mutex);
        owned = true;
        while (!over) std::this_thread::yield();
    });
    while (!owned) std::this_thread::yield();
    forked child([&] {
        for (int i = 0; i < 1000; ++i) {
            const std::lock_guard lock(mutex);
            if (i == 0 && mutex.is_biased()) return false;
        }
        return true;
    });
    CHECK(child.result() == 0);
    over = true;
    owner.join();
}

#ifndef __SANITIZE_THREAD__ // it starts no threads in a child
TEST_CASE("mutex_of_many_threads_of_a_child_process_loses_no_increment") {
    biased_mutex mutex;
    turn_of_process(mutex);
    forked child([&] {
        std::uint64_t sum = 0; // not atomic
        cogwheel_tests::on_threads(4, [&](int) {
            for (int i = 0; i < 10'000; ++i) {
                const std::lock_guard lock(mutex);
                ++sum;
            }
        });
        return sum == 40'000;
    });
    CHECK(child.result() == 0);
}
#endif

#endif
