// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Threads for tests: all joined, whatever happens. And how one of them waits for the others.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <thread>
#include <vector>

namespace cogwheel_tests {

/// Threads that run a context; at the end, until it has nothing left. Make it before a wheel in virtual time: the wheel
/// goes first then, and with it a wake-up that nobody would bring about any more.
class runners {
public:
    runners(asio::io_context& io, int count) : work_(io.get_executor()) {
        for (int i = 0; i < count; ++i) threads_.emplace_back([&io] { io.run(); });
    }
    ~runners() {
        work_.reset();
        for (auto& t : threads_) t.join();
    }
    runners(const runners&) = delete;
    runners& operator=(const runners&) = delete;

private:
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::vector<std::thread> threads_;
};

/// f(0) .. f(count - 1) at once, each on a thread of its own.
template <class F>
void on_threads(int count, F f) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(f, i);
    for (auto& t : threads) t.join();
}

/// Asks until the answer is true. Locks are not fair: in an emulator or under a sanitizer, a thread that asks without a
/// pause keeps the others from the lock for minutes.
template <class Condition>
void ask_until(Condition met) {
    while (!met()) {
        for (int pause = 0; pause < 100; ++pause) std::this_thread::yield();
    }
}

} // namespace cogwheel_tests
