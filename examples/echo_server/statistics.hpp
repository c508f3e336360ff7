// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the server counts. Connections on different strands write at the same time: relaxed atomics for what every
// message touches, a lock for what only a kick touches.
#pragma once

#include "activity_window.hpp"
#include "support/live_view.hpp"

#include <cogwheel/counts/lateness_histogram.hpp>
#include <cogwheel/counts/wheel_stats.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace echo {

enum class kick_reason { idle, peer_does_not_read };

class statistics {
public:
    void accepted() { accepted_.fetch_add(1, std::memory_order_relaxed); }
    void echoed(std::size_t bytes) {
        messages_.fetch_add(1, std::memory_order_relaxed);
        echoed_.fetch_add(bytes, std::memory_order_relaxed);
    }
    void failed() { failures_.fetch_add(1, std::memory_order_relaxed); }
    void accept_failed() { accept_failures_.fetch_add(1, std::memory_order_relaxed); }

    /// `lateness`: from the moment the connection was due to be closed to the moment it was closed.
    void kicked(kick_reason reason, std::chrono::nanoseconds lateness);

    std::uint64_t accepted_so_far() const { return accepted_.load(std::memory_order_relaxed); }
    std::uint64_t messages() const { return messages_.load(std::memory_order_relaxed); } // a read counts as one
    std::uint64_t echoed_bytes() const { return echoed_.load(std::memory_order_relaxed); }
    std::uint64_t kicks(kick_reason reason) const {
        const std::lock_guard lock{mutex_};
        return reason == kick_reason::idle ? idle_kicks_ : write_kicks_;
    }

    cogwheel::lateness_histogram idle_lateness() const {
        const std::lock_guard lock{mutex_};
        return idle_lateness_;
    }

    std::string summary(std::chrono::nanoseconds uptime, const cogwheel::wheel_stats& wheel) const;

    /// Which connections are chatting. Its epochs begin only with --stats.
    activity_window activity;

private:
    std::atomic<std::uint64_t> accepted_{0};
    std::atomic<std::uint64_t> messages_{0};
    std::atomic<std::uint64_t> echoed_{0};
    std::atomic<std::uint64_t> failures_{0};
    std::atomic<std::uint64_t> accept_failures_{0};

    mutable std::mutex mutex_; // guards what follows
    std::uint64_t idle_kicks_ = 0;
    std::uint64_t write_kicks_ = 0;
    cogwheel::lateness_histogram idle_lateness_;
};

/// What --stats shows while the server runs.
class live_report {
public:
    explicit live_report(const statistics& counts) : counts_{counts} {}

    /// `connections`: those that are open.
    void show(std::size_t connections);

private:
    const statistics& counts_;
    const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    output::live_view view_;
    output::rate messages_{started_};
    output::rate bytes_{started_};
    output::rate closed_{started_};
    std::size_t most_connections_ = 0; // the length of the bars: they shrink as connections leave
};

} // namespace echo
