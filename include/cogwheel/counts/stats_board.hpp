// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Hands the counts of a local_timer_wheel to other threads. The wheel has no lock, so only its own thread may read its
// counts. At the end of a turn, the wheel writes them to a board, if a reader has asked since the last time.
//
//     const auto board = wheel.publish(); // on the wheel's thread
//     ...
//     const cogwheel::wheel_snapshot s = board->latest(); // on any thread
#pragma once

#include <cogwheel/counts/wheel_stats.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace cogwheel::COGWHEEL_ABI {

/// The counts that a wheel has published last. Thread safety: any thread. Lifetime: shared, also after the wheel's end.
class stats_board {
public:
    explicit stats_board(wheel_snapshot first) : latest_(std::move(first)) {}
    stats_board(const stats_board&) = delete;
    stats_board& operator=(const stats_board&) = delete;

    /// Returns the latest counts, and asks the wheel for newer ones, which come at the end of its next turn. While no
    /// timer is due, the wheel has no turns, and its published counts stay as they are.
    /// Errors: std::bad_alloc.
    wheel_snapshot latest() {
        const std::lock_guard lock(mutex_);
        wanted_.store(true, std::memory_order_relaxed);
        return latest_;
    }

    std::uint64_t published() const {
        const std::lock_guard lock(mutex_);
        return published_;
    }

    /// For the wheel: returns true if a reader has asked since the wheel published last.
    bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }

    /// For the wheel: replaces the counts. Does nothing while a reader copies the old counts: the wheel never waits for
    /// a reader, and tries again after its next turn. If another turn is about to come, wanted() stays true, so that
    /// the last counts are not those of a wheel that is behind.
    void publish(wheel_snapshot&& s) noexcept {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return;
        latest_ = std::move(s);
        ++published_;
        wanted_.store(latest_.next_due == std::chrono::nanoseconds::zero(), std::memory_order_relaxed);
    }

private:
    mutable std::mutex mutex_;
    wheel_snapshot latest_;
    std::uint64_t published_ = 0;
    std::atomic<bool> wanted_{false};
};

} // namespace cogwheel::COGWHEEL_ABI
