// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The mutex of a wheel excludes, also while its owner changes, and no thread that sleeps for it is overlooked: each
// test ends.
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX

#include "support/threads.hpp"

#include <cogwheel/asio/detail/engine/biased_mutex.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct mutex_access {
    /// What the present owner does first in try_lock().
    static std::atomic<bool>& flag_of_owner(biased_mutex& m) { return *m.bias_; }
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

using cogwheel::detail::biased_mutex;
using cogwheel::detail::mutex_access;
using cogwheel_tests::on_threads;

namespace {

/// As on a kernel that has no membarrier(2), or does not allow it.
struct mutex_without_barrier : biased_mutex {
    mutex_without_barrier() noexcept : biased_mutex(false) {}
};

/// Whoever locks it would like to be its owner, as at the end of a turn.
struct mutex_with_owners : biased_mutex {
    void lock() noexcept {
        biased_mutex::lock();
        consider_bias();
    }
};

/// A thread that waits gives up looking by time, and not by a count of its looks.
void let_others_sleep() {
    using clock = std::chrono::steady_clock;
    for (const auto until = clock::now() + std::chrono::milliseconds(1); clock::now() < until;)
        std::this_thread::yield();
}

template <class F>
void on_another_thread(F f) {
    std::thread(f).join();
}

bool is_biased(biased_mutex& mutex) {
    const std::lock_guard lock(mutex);
    return mutex.is_biased();
}

/// A turn of a wheel. Returns whether the mutex has an owner then.
bool turn(biased_mutex& mutex) {
    const std::lock_guard lock(mutex);
    mutex.consider_bias();
    return mutex.is_biased();
}

/// Not on a processor, or under a kernel, for which there are no owners.
bool has_owners() {
    biased_mutex mutex;
    return turn(mutex);
}

} // namespace

TEST_CASE_TEMPLATE("mutex_of_many_threads_loses_no_increment", Mutex, biased_mutex, mutex_without_barrier,
                   mutex_with_owners) {
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

TEST_CASE_TEMPLATE("mutex_that_is_held_for_long_wakes_those_who_sleep", Mutex, biased_mutex, mutex_without_barrier,
                   mutex_with_owners) {
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
        let_others_sleep();
        CHECK(got == 0);
        mutex.unlock();
        for (std::thread& t : waiting) t.join();
        CHECK(got == 4);
    }
}

// The window between the last look at the word and the wait in the kernel: a thread unlocks just then, again and again.
TEST_CASE_TEMPLATE("mutex_handed_to_and_fro_between_two_threads_stops_nobody", Mutex, biased_mutex,
                   mutex_without_barrier, mutex_with_owners) {
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

TEST_CASE_TEMPLATE("mutex_try_lock_succeeds_only_if_nobody_has_it", Mutex, biased_mutex, mutex_without_barrier) {
    Mutex mutex;
    const auto locks_elsewhere = [&] {
        bool got = false;
        on_another_thread([&] {
            got = mutex.try_lock();
            if (got) mutex.unlock();
        });
        return got;
    };
    CHECK(mutex.try_lock());
    CHECK(!locks_elsewhere());
    mutex.unlock();
    CHECK(locks_elsewhere());
    CHECK(mutex.try_lock());
    mutex.unlock();
}

// Each mutex gets an owner, who works on while the other thread revokes that.
TEST_CASE("mutex_whose_owner_is_inside_again_and_again_lets_nobody_else_in") {
    constexpr int rounds = 1000, increments = 300;
    std::vector<biased_mutex> mutexes(rounds);
    std::vector<std::uint64_t> sums(rounds); // not atomic
    std::atomic<int> owned = -1, shared = -1;
    const auto add = [&](int round) {
        for (int i = 0; i < increments; ++i) {
            const std::lock_guard lock(mutexes[std::size_t(round)]);
            ++sums[std::size_t(round)];
        }
    };
    on_threads(2, [&](int me) {
        for (int round = 0; round < rounds; ++round) {
            if (me == 0) {
                turn(mutexes[std::size_t(round)]);
                owned = round;
            } else {
                while (owned < round) std::this_thread::yield();
                shared = round;
            }
            // Both begin at once, so that one is inside when the other one comes.
            for (int looks = 0; shared < round; ++looks)
                if (looks > 1000) std::this_thread::yield();
            add(round);
        }
    });
    for (const std::uint64_t sum : sums) CHECK(sum == 2 * increments);
    for (biased_mutex& mutex : mutexes) CHECK(!is_biased(mutex)); // the second thread has used each
}

// More threads than processors: some are suspended on their way in, and go on when another thread is the owner.
TEST_CASE("mutex_whose_owners_change_while_threads_are_suspended_loses_no_increment") {
    constexpr int threads = 6, mutexes = 400, increments = 100;
    std::vector<mutex_with_owners> all(mutexes);
    std::vector<std::uint64_t> sums(mutexes); // not atomic
    on_threads(threads, [&](int) {
        for (std::size_t m = 0; m < all.size(); ++m)
            for (int i = 0; i < increments; ++i) {
                const std::lock_guard lock(all[m]);
                const std::uint64_t before = sums[m];
                if (i % 10 == 0) std::this_thread::yield(); // as if suspended inside
                sums[m] = before + 1;
            }
    });
    for (const std::uint64_t sum : sums) CHECK(sum == std::uint64_t{threads} * increments);
}

TEST_CASE("mutex_stays_locked_for_others_while_its_owner_has_it" * doctest::skip(!has_owners())) {
    biased_mutex mutex;
    REQUIRE(turn(mutex));
    mutex.lock();
    std::atomic<bool> asks = false, got = false;
    std::thread other([&] {
        asks = true;
        const std::lock_guard lock(mutex);
        got = true;
    });
    while (!asks) std::this_thread::yield();
    let_others_sleep();
    CHECK(!got);
    mutex.unlock();
    other.join();
    CHECK(got);
    CHECK(!is_biased(mutex));
}

TEST_CASE("mutex_is_biased_to_the_first_thread_that_asks_and_to_no_other_until_that_is_alone" *
          doctest::skip(!has_owners())) {
    biased_mutex mutex;
    CHECK(!is_biased(mutex));
    CHECK(turn(mutex));
    CHECK(turn(mutex));
    // Another thread revokes it. Then one turn sees who is alone. After that, one turn is too few, later three are.
    on_another_thread([&] {
        CHECK(!turn(mutex));
        CHECK(!turn(mutex));
        CHECK(turn(mutex));
    });
    CHECK(!turn(mutex));
    for (int quiet = 0; quiet < 3; ++quiet) CHECK(!turn(mutex));
    CHECK(turn(mutex));
}

TEST_CASE("mutex_that_another_thread_has_locked_since_the_last_turn_gets_no_owner" * doctest::skip(!has_owners())) {
    biased_mutex mutex;
    CHECK(turn(mutex));
    on_another_thread([&] { is_biased(mutex); });
    for (int i = 0; i < 10; ++i) {
        CHECK(!turn(mutex));
        on_another_thread([&] { is_biased(mutex); });
    }
    CHECK(!turn(mutex)); // sees who is alone from here on
    CHECK(!turn(mutex));
    CHECK(turn(mutex));
}

// A thread reads the counts of a server's wheel now and then.
TEST_CASE("mutex_whose_owner_had_it_for_long_is_biased_again_soon" * doctest::skip(!has_owners())) {
    biased_mutex mutex;
    for (int visits = 0; visits < 20; ++visits) {
        for (int turns = 0; turns < 4; ++turns) turn(mutex);
        CHECK(is_biased(mutex));
        for (int turns = 0; turns < 100; ++turns) turn(mutex);
        on_another_thread([&] { CHECK(!is_biased(mutex)); });
    }
}

// A thread sees that it is the owner, is suspended, and goes on when another thread is the owner, and inside.
TEST_CASE("mutex_is_not_opened_by_a_former_owner_that_takes_its_store_back" * doctest::skip(!has_owners())) {
    biased_mutex mutex;
    std::atomic<bool>* former = nullptr;
    std::thread first([&] {
        mutex.lock();
        mutex.consider_bias();
        former = &mutex_access::flag_of_owner(mutex);
        mutex.unlock();
    });
    first.join();
    for (int turns = 0; turns < 10; ++turns) turn(mutex);
    REQUIRE(is_biased(mutex));
    mutex.lock();
    *former = true;
    *former = false;
    std::atomic<bool> got = false;
    std::thread stranger([&] {
        const std::lock_guard lock(mutex);
        got = true;
    });
    let_others_sleep();
    CHECK(!got);
    mutex.unlock();
    stranger.join();
}

TEST_CASE("mutex_of_an_owner_that_has_ended_works_on" * doctest::skip(!has_owners())) {
    biased_mutex mutex;
    on_another_thread([&] { CHECK(turn(mutex)); });
    std::vector<std::thread> others;
    int sum = 0; // not atomic
    for (int i = 0; i < 4; ++i)
        others.emplace_back([&] {
            for (int n = 0; n < 1000; ++n) {
                const std::lock_guard lock(mutex);
                ++sum;
            }
        });
    for (std::thread& t : others) t.join();
    CHECK(sum == 4000);
}

TEST_CASE("mutex_without_barrier_has_no_owner") {
    mutex_without_barrier mutex;
    CHECK(!turn(mutex));
    CHECK(!turn(mutex));
}

#endif
