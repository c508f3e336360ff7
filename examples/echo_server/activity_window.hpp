// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How many connections have sent something of late, without a look at each of them.
//
// Time is cut into epochs. Each member keeps the epoch of its last message, and is counted in that epoch's counter: it
// moves to another one with the first message of an epoch. The sum of the last counters is the answer. Members that are
// in older epochs need not move: the counter is set to zero before a new epoch uses it again.
//
// Cost: a load and a compare for each message; two atomic additions in each epoch for each member that talks.
// Threads: members may be on any. With one thread the count is exact. With several, a member that takes a whole epoch
// for touch() may be counted once too often or too seldom, for a second.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace echo {

class activity_window {
public:
    static constexpr std::chrono::milliseconds epoch_length{250};

    /// Of one connection, whose strand alone uses it.
    class member {
    public:
        explicit member(activity_window& window) : window_{window} {}
        ~member() { window_.take_out(epoch_); }
        member(const member&) = delete;
        member& operator=(const member&) = delete;

        /// Call it for each message.
        void touch() {
            const auto now = window_.epoch_.load(std::memory_order_relaxed);
            if (now == epoch_) return; // always before the first begin_epoch()
            window_.take_out(epoch_);
            window_.counter(now).fetch_add(1, std::memory_order_relaxed);
            epoch_ = now;
        }

    private:
        activity_window& window_;
        std::uint64_t epoch_ = 0; // 0: in no counter
    };

    /// Call it once in each `epoch_length`, always on the same strand.
    void begin_epoch() {
        const auto now = epoch_.load(std::memory_order_relaxed) + 1;
        // The next one's, so that a member on another thread has a whole epoch to see that it is no longer in there.
        counter(now + 1).store(0, std::memory_order_relaxed);
        epoch_.store(now, std::memory_order_relaxed);
    }

    /// The members that were touched in this epoch or the `shown` ones before it, so within a second at least.
    std::size_t active() const {
        const auto now = epoch_.load(std::memory_order_relaxed);
        std::int64_t sum = 0;
        for (std::uint64_t age = 0; age <= std::min(now, shown); ++age)
            sum += counters_[(now - age) % counters_.size()].load(std::memory_order_relaxed);
        return static_cast<std::size_t>(std::max<std::int64_t>(sum, 0));
    }

private:
    static constexpr std::uint64_t shown = 4;
    static_assert(shown * epoch_length >= std::chrono::seconds{1});

    std::atomic<std::int64_t>& counter(std::uint64_t epoch) { return counters_[epoch % counters_.size()]; }

    void take_out(std::uint64_t epoch) {
        const auto age = epoch_.load(std::memory_order_relaxed) - epoch;
        // What was in an older one was forgotten when that counter was set to zero.
        if (epoch != 0 && age < counters_.size() - 1) counter(epoch).fetch_sub(1, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> epoch_{0};
    std::array<std::atomic<std::int64_t>, 8> counters_{};
};

} // namespace echo
