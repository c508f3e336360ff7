// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Threads for tests: all joined, whatever happens.
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

} // namespace cogwheel_tests
