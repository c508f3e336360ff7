// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Whose the mutex of a wheel is: of the thread that made it, then of the one that runs its turns.
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX

#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/asio/detail/engine/biased_mutex.hpp>

#include <doctest/doctest.h>

#include <mutex>
#include <thread>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace std::chrono_literals;

namespace {

/// multi_threaded, but shows its mutex.
struct shown_locking {
    static constexpr bool concurrent = true;

    struct mutex : detail::biased_mutex {
        mutex() noexcept { last = this; }
        inline static mutex* last = nullptr;
    };
};
using shown_wheel = basic_timer_wheel<manual_clock, shown_locking>;

/// A wheel whose timer repeats itself.
struct busy_wheel {
    asio::io_context io;
    shown_wheel wheel{io, {.tick = 1ms}};
    shown_locking::mutex& mutex = *shown_locking::mutex::last;
    int turns = 0;

    busy_wheel() { again(); }
    void again() {
        wheel.schedule(1ms, [this] {
            ++turns;
            again();
        });
    }
    void turn() {
        manual_clock::advance(1ms);
        io.restart();
        io.poll();
    }
    bool is_biased() {
        const std::lock_guard lock(mutex);
        return mutex.is_biased();
    }
};

/// Not on a processor, or under a kernel, for which there are no owners.
bool wheel_has_owners() { return busy_wheel().is_biased(); }

} // namespace

TEST_CASE("wheel_belongs_to_the_thread_that_made_it" * doctest::skip(!wheel_has_owners())) {
    busy_wheel w;
    CHECK(w.is_biased());
    for (int i = 0; i < 10; ++i) w.turn();
    CHECK(w.turns == 10);
    CHECK(w.is_biased());
}

TEST_CASE("wheel_comes_to_belong_to_the_thread_that_runs_its_turns" * doctest::skip(!wheel_has_owners())) {
    busy_wheel w;
    std::thread([&] {
        int turns = 0;
        for (; turns < 100 && !w.is_biased(); ++turns) w.turn();
        CHECK(turns < 10);
        for (; turns < 100; ++turns) w.turn();
        CHECK(w.is_biased());
    }).join();
    CHECK(w.turns == 100);
    CHECK(!w.is_biased()); // this thread has asked
}

TEST_CASE("wheel_that_two_threads_use_belongs_to_neither") {
    busy_wheel w;
    for (int i = 0; i < 10; ++i) {
        std::thread([&] { CHECK(w.wheel.pending() == 1); }).join();
        w.turn();
        CHECK(!w.is_biased());
    }
    CHECK(w.turns == 10);
}

#endif
