// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How long single operations take, without what the machine does meanwhile.
//
// Each operation lies between two clock readings; a figure includes about one of them (20 ns).
//
// - Context switches. getrusage(RUSAGE_THREAD) counts them. If it counts one during a batch of operations, the time for
//   which the thread did not run is subtracted from the longest of them: that is the one that it fell into. To drop
//   such operations would hide the longest, because those that last a millisecond are rarely spared. "switched %" says
//   how many operations were in such a batch.
// - The kernel does not count a thread's interrupts, nor the time that a hypervisor gives to other guests. Those stay
//   in "p99.99" and "max". But the same script runs three times, each on a new set, and "own max" is the largest of the
//   least times of each operation. A contender's own work, such as the growth of an array, comes at the same operation
//   each time; an interrupt does not. The page faults of fresh memory come in the first run only: they are in "max".
// - The row of the floor shows what the machine does to one store.
#pragma once

#include "leg.hpp"
#include "machine.hpp"
#include "workloads/percentiles.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace bench {

class operation_times {
    using clock = std::chrono::steady_clock;

public:
    static constexpr int runs = 3;

    /// operations: of one run; 0 if those of the runs do not correspond.
    explicit operation_times(std::size_t operations) : least_(operations, unknown) { kept_.reserve(runs * operations); }

    /// The next operation is the first of the script again.
    void start_run() {
        largest_.push_back(0);
        next_ = 0;
    }

    /// Calls f(), which calls time() or add() for each operation of a batch. Without Measures it only calls f().
    template <bool Measures = true, class F>
    void batch(F f) {
        if constexpr (!Measures) return f();
        batch_.clear();
        const std::size_t switches = context_switches();
        const double ran_before = thread_cpu_ns();
        const auto from = clock::now();
        f();
        const auto to = clock::now();
        const double ran = thread_cpu_ns() - ran_before;
        if (batch_.empty()) return;
        if (context_switches() != switches) {
            double& longest = *std::max_element(batch_.begin(), batch_.end());
            const double lost = static_cast<double>(std::chrono::nanoseconds(to - from).count()) - ran;
            longest = std::max(longest - std::max(lost, 0.0), 0.0);
            switched_ += batch_.size();
        }
        for (const double ns : batch_) keep(next_++, ns);
    }

    template <bool Measures = true, class F>
    void time(F f) {
        if constexpr (!Measures) return f();
        const auto from = clock::now();
        f();
        add(from, clock::now());
    }
    void add(clock::time_point from, clock::time_point to) {
        batch_.push_back(static_cast<double>(std::chrono::nanoseconds(to - from).count()));
    }

    /// The mean as the time of an operation.
    void note_mean(sample& s) const {
        s.operations = kept_.size();
        if (kept_.empty()) return;
        s.cpu_ns = std::accumulate(kept_.begin(), kept_.end(), 0.0) / static_cast<double>(kept_.size());
        s.wall_ns = s.cpu_ns;
    }

    /// p50, p99, p99.99, max and `own_max` in units of so many nanoseconds; and "switched %".
    std::array<double, 8> figures(double unit, double own_max) {
        const double all = static_cast<double>(kept_.size());
        return {percentile(kept_, 50) / unit,
                percentile(kept_, 99) / unit,
                percentile(kept_, 99.99) / unit,
                percentile(kept_, 100) / unit,
                own_max / unit,
                all == 0 ? 0 : 100 * static_cast<double>(switched_) / all};
    }

    /// Of each operation the least time of all runs; of these the largest.
    double largest_least() const {
        double largest = 0;
        for (const double ns : least_)
            if (ns != unknown) largest = std::max(largest, ns);
        return largest;
    }
    /// Of each run the largest time; of these the least.
    double least_largest() const { return *std::min_element(largest_.begin(), largest_.end()); }

private:
    static constexpr double unknown = std::numeric_limits<double>::max();

    void keep(std::size_t number, double ns) {
        kept_.push_back(ns);
        largest_.back() = std::max(largest_.back(), ns);
        if (number < least_.size()) least_[number] = std::min(least_[number], ns);
    }

    std::vector<double> batch_, kept_, least_, largest_;
    std::size_t next_ = 0, switched_ = 0;
};

} // namespace bench
