// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers that fire in real time, and when each of them does.
#pragma once

#include "workloads/live_set.hpp"

#include <stdexcept>
#include <vector>

namespace bench {

/// One at a time in a process.
template <firing_contender C>
class timed_firing {
    using clock = std::chrono::steady_clock;

public:
    explicit timed_firing(std::size_t timers) : set_(std::in_place, timers), due_(timers), late_(timers) {}
    timed_firing(const timed_firing&) = delete;
    timed_firing& operator=(const timed_firing&) = delete;
    ~timed_firing() { tally::witness = nullptr; }

    C& operator*() noexcept { return **set_; }

    /// All are set to points within `spread` from a moment that is far enough away to set them all before.
    void arm(std::chrono::nanoseconds spread, std::uint64_t seed) {
        const std::size_t timers = due_.size();
        const numbers later = random_numbers(timers, static_cast<std::size_t>(spread.count()), seed);
        for (int patience = 3;; patience *= 2) {
            const stopwatch scheduling;
            set_->schedule_all(numbers_in_order(timers), far_delay);
            const auto expected = milliseconds(static_cast<std::int64_t>(scheduling.wall_ns() * 1e-6) + 50);
            start_ = (**set_).after(patience * expected);
            for (std::size_t i = 0; i < timers; ++i) due_[i] = start_ + std::chrono::nanoseconds(later[i]);
            set_->each(random_order(timers, seed + 1), [this](C& c, typename C::handle& h, std::uint32_t n) {
                return c.move_to(h, n, due_[n]), false;
            });
            if (clock::now() < start_) break;
            if (patience > 50) throw std::runtime_error("too slow to set all timers before the first is due");
            set_.emplace(timers); // some may have fired
        }
        seen_ = 0;
        current_ = this;
        tally::witness = [](std::uint32_t number) { current_->note(number); };
    }

    /// Called with each timer's last.
    void on_last(void (*f)(void*), void* argument) {
        last_ = f;
        argument_ = argument;
    }

    clock::time_point start() const { return start_; }
    clock::time_point end() const { return end_; }
    /// Nanoseconds after its time, for each timer; negative: early.
    std::vector<double>& late() { return late_; }

private:
    void note(std::uint32_t number) {
        end_ = clock::now();
        late_[number] = static_cast<double>(std::chrono::nanoseconds(end_ - due_[number]).count());
        if (++seen_ == due_.size() && last_ != nullptr) last_(argument_);
    }

    static inline timed_firing* current_ = nullptr;

    std::optional<live_set<C>> set_;
    std::vector<clock::time_point> due_;
    std::vector<double> late_;
    std::size_t seen_ = 0;
    clock::time_point start_, end_;
    void (*last_)(void*) = nullptr;
    void* argument_ = nullptr;
};

} // namespace bench
