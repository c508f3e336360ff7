// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Aborts a run in which nothing happens any more: a deadlock, or a wait that keeps run() from returning and never ends.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace stress {

class watchdog {
public:
    static constexpr std::chrono::seconds patience{60};

    /// `state` is printed before the end; it must take no lock. Thread safety: it is called on a thread of its own.
    explicit watchdog(std::function<std::string()> state) : state_(std::move(state)), thread_([this] { watch(); }) {}
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    /// Something happened. Any thread.
    static void pulse() noexcept { pulses_.fetch_add(1, std::memory_order_relaxed); }

private:
    void watch() {
        std::unique_lock lock(mutex_);
        auto seen = pulses_.load();
        auto since = std::chrono::steady_clock::now();
        while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; })) {
            const auto now = std::chrono::steady_clock::now();
            if (const auto latest = pulses_.load(); latest != seen) {
                seen = latest;
                since = now;
            } else if (now - since > patience) {
                fmt::print(stderr, "VIOLATION: nothing has happened for {} s\n{}\n", patience.count(), state_());
                std::abort();
            }
        }
    }

    static inline std::atomic<std::uint64_t> pulses_{0};
    std::function<std::string()> state_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_; // last: it uses the others
};

} // namespace stress
