// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Hands the counts of a local_timer_wheel to other threads. The wheel has no lock, so only its own thread may read its
// counts. It writes them to a board at the end of a turn, if a reader has asked since the last time.
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

/// The counts that a wheel has published last. Thread safety: any thread. Lifetime: shared; it may outlive the wheel,
/// and then keeps the last counts.
class stats_board {
public:
    explicit stats_board(wheel_snapshot first) : latest_(std::move(first)) {}
    stats_board(const stats_board&) = delete;
    stats_board& operator=(const stats_board&) = delete;

    /// Returns the latest counts, and asks the wheel for newer ones: they come at the end of its next turn. A wheel
    /// without a due timer has no turns; its counts stay as they were published.
    /// Errors: std::bad_alloc.
    wheel_snapshot latest() {
        const std::lock_guard lock(mutex_);
        wanted_.store(true, std::memory_order_relaxed);
        return latest_;
    }

    /// Returns how often the wheel has published.
    std::uint64_t published() const {
        const std::lock_guard lock(mutex_);
        return published_;
    }

    /// Returns true if a reader has asked since the wheel published last. For the wheel.
    bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }

    /// Replaces the counts. If a reader copies the old ones just now, does nothing: the wheel never waits for a reader,
    /// and tries again after its next turn. If another turn is about to come, the board stays wanted, so that it does
    /// not end with the counts of a wheel that is behind. For the wheel.
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
