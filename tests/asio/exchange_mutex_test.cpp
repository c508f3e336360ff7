// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The mutex of a wheel excludes, and no thread that sleeps for it is overlooked: each test ends.
#ifdef __linux__

#include "support/threads.hpp"

#include <cogwheel/asio/detail/exchange_mutex.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

using cogwheel::detail::exchange_mutex;
using cogwheel_tests::on_threads;

namespace {

/// As on a kernel that has no membarrier(2), or does not allow it.
struct mutex_without_barrier : exchange_mutex {
    mutex_without_barrier() noexcept : exchange_mutex(false) {}
};

} // namespace

TEST_CASE_TEMPLATE("mutex_of_many_threads_loses_no_increment", Mutex, exchange_mutex, mutex_without_barrier) {
    Mutex mutex;
    std::uint64_t sum = 0; // not atomic: the mutex has to order the threads
    constexpr int threads = 8, rounds = 40'000;
    on_threads(threads, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            const std::lock_guard lock(mutex);
            ++sum;
        }
    });
    CHECK(sum == std::uint64_t{threads} * rounds);
}

TEST_CASE_TEMPLATE("mutex_that_is_held_for_long_wakes_those_who_sleep", Mutex, exchange_mutex, mutex_without_barrier) {
    Mutex mutex;
    std::atomic<int> got = 0;
    for (int round = 0; round < 50; ++round) {
        got = 0;
        mutex.lock();
        std::vector<std::thread> waiting;
        for (int i = 0; i < 4; ++i)
            waiting.emplace_back([&] {
                const std::lock_guard lock(mutex);
                ++got;
            });
        using clock = std::chrono::steady_clock; // a thread gives up trying by time, and not by a count of its looks
        for (const auto until = clock::now() + std::chrono::milliseconds(1); clock::now() < until;)
            std::this_thread::yield();
        CHECK(got == 0);
        mutex.unlock();
        for (std::thread& t : waiting) t.join();
        CHECK(got == 4);
    }
}

// The window between the last look at the word and the wait in the kernel: a thread unlocks just then, again and again.
TEST_CASE_TEMPLATE("mutex_handed_to_and_fro_between_two_threads_stops_nobody", Mutex, exchange_mutex,
                   mutex_without_barrier) {
    Mutex mutex;
    int turn = 0;
    constexpr int rounds = 20'000;
    on_threads(2, [&](int me) {
        for (int done = 0; done < rounds;) {
            {
                const std::lock_guard lock(mutex);
                if (turn % 2 == me) {
                    ++turn;
                    ++done;
                    continue;
                }
            }
            std::this_thread::yield();
        }
    });
    CHECK(turn == 2 * rounds);
}

TEST_CASE("mutex_try_lock_succeeds_only_if_nobody_has_it") {
    exchange_mutex mutex;
    CHECK(mutex.try_lock());
    CHECK(!mutex.try_lock());
    mutex.unlock();
    CHECK(mutex.try_lock());
    mutex.unlock();
}

#endif
