// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The workloads, each the same code for every contender.
//
// What is measured is a loop over a sequence of timer numbers that was made beforehand and is the same for all. Waiting
// for real deadlines, making handles, and setting up are not measured; delivering aborted handlers is.
#pragma once

#include "contenders/contender.hpp"
#include "leg.hpp"
#include "machine.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

namespace bench {

using numbers = std::vector<std::uint32_t>;

constexpr milliseconds usual_delay{30'000};
constexpr milliseconds far_delay{3'600'000};
constexpr std::size_t batch =
    128; // operations between two visits to the loop: as many events as epoll gives Asio at once

inline std::uint64_t live_set_operations(std::size_t timers) { return timers >= 1'000'000 ? 300'000 : 1'000'000; }

inline numbers random_numbers(std::size_t count, std::size_t below, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    numbers list(count);
    for (std::uint32_t& n : list) n = static_cast<std::uint32_t>(random() % below);
    return list;
}

inline numbers numbers_in_order(std::size_t count) {
    numbers list(count);
    std::iota(list.begin(), list.end(), 0U);
    return list;
}

inline numbers random_order(std::size_t count, std::uint64_t seed) {
    numbers list = numbers_in_order(count);
    std::shuffle(list.begin(), list.end(), std::mt19937_64(seed));
    return list;
}

/// A contender with N handles.
template <contender C>
class live_set {
public:
    using handle = typename C::handle;

    explicit live_set(std::size_t timers) : heap_before_(heap_in_use()), handles_(contender_.make_handles(timers)) {}

    /// Calls f(contender, handle, number) for each of the list, in batches; counts the trues if f returns any.
    template <class F>
    std::uint64_t each(const numbers& list, F f) {
        std::uint64_t trues = 0;
        for (std::size_t from = 0; from < list.size(); from += batch) {
            const std::size_t to = std::min(from + batch, list.size());
            contender_.work(to - from, [&] {
                for (std::size_t i = from; i < to; ++i) trues += f(contender_, handles_[list[i]], list[i]);
            });
        }
        return trues;
    }

    template <class F>
    auto apply(std::uint32_t number, F f) {
        return f(contender_, handles_[number], number);
    }

    void schedule_all(const numbers& list, milliseconds delay) {
        each(list, [delay](C& c, handle& h, std::uint32_t n) { return c.schedule(h, n, delay), false; });
    }

    /// Call it while all are live. Everything that was allocated since before the contender was made.
    void note_memory(sample& s) const {
        const double timers = static_cast<double>(handles_.size());
        s.bytes = static_cast<double>(heap_in_use() - heap_before_) / timers;
        if (C::handle_is_timer) return;
        s.handle_bytes = sizeof(handle);
        s.bytes -= s.handle_bytes;
    }

    C& operator*() noexcept { return contender_; }

private:
    std::size_t heap_before_;
    C contender_;
    fixed_array<handle> handles_;
};

inline void note_times(sample& s, const stopwatch& watch, std::uint64_t operations) {
    s.cpu_ns = watch.cpu_ns() / static_cast<double>(operations);
    s.wall_ns = watch.wall_ns() / static_cast<double>(operations);
    s.mallocs = static_cast<double>(watch.mallocs()) / static_cast<double>(operations);
    s.operations = operations;
}

// ---- a live set that keeps its size ----

struct churn_operation {
    template <class C>
    static bool apply(C& c, typename C::handle& h, std::uint32_t number) {
        const bool was_pending = c.cancel(h);
        c.schedule(h, number, usual_delay);
        return was_pending;
    }
};

struct touch_operation {
    template <class C>
    static bool apply(C& c, typename C::handle& h, std::uint32_t number) {
        c.move(h, number, usual_delay);
        return false;
    }
};

// With a wait pending, which is aborted: what an asio timer's user does.
struct rearm_operation {
    template <class C>
    static bool apply(C& c, typename C::handle& h, std::uint32_t number) {
        c.schedule(h, number, usual_delay);
        return false;
    }
};

enum class order { random, round_robin };

template <contender C, class Operation, order Order>
class live_set_leg final : public leg {
public:
    explicit live_set_leg(std::size_t timers) : timers_(timers) {}

    sample repeat(std::uint64_t repetition) override {
        renew();
        const std::uint64_t operations = live_set_operations(timers_);
        const numbers warm_up = list(operations / 4, 2 * repetition + 1);
        const numbers measured = list(operations, 2 * repetition + 2);
        sample s = memory_;
        set_->each(warm_up, &Operation::template apply<C>);
        const stopwatch watch;
        s.result.cancelled = set_->each(
            measured, [](C& c, typename C::handle& h, std::uint32_t n) { return Operation::apply(c, h, n); });
        note_times(s, watch, operations);
        s.result.pending = (**set_).pending();
        s.result.fired = (**set_).fired();
        return s;
    }

private:
    numbers list(std::size_t count, std::uint64_t seed) const {
        if constexpr (Order == order::random) {
            return random_numbers(count, timers_, seed);
        } else {
            numbers n(count);
            for (std::size_t i = 0; i < count; ++i) n[i] = static_cast<std::uint32_t>(i % timers_);
            return n;
        }
    }

    // Real time passes while other legs run: nothing may fire before the set is made anew.
    void renew() {
        if (set_ && !(C::real_time && age_->wall_ns() > 15e9)) return;
        set_.reset();
        age_.emplace();
        set_.emplace(timers_);
        set_->schedule_all(random_order(timers_, 0), usual_delay); // as after some time of use
        set_->note_memory(memory_);
    }

    std::size_t timers_;
    std::optional<stopwatch> age_;
    std::optional<live_set<C>> set_;
    sample memory_;
};

// ---- a live set that grows, or shrinks ----

enum class phase { none, schedule, cancel };

template <contender C, phase Measured>
class phase_leg final : public leg {
public:
    explicit phase_leg(std::size_t timers) : timers_(timers) {}

    sample repeat(std::uint64_t repetition) override {
        using handle = typename C::handle;
        const numbers first = random_order(timers_, 2 * repetition + 1);
        const numbers second = random_order(timers_, 2 * repetition + 2);
        live_set<C> set(timers_); // last: what is allocated from here on counts as the contender's
        sample s;
        const stopwatch schedule_watch;
        set.schedule_all(first, usual_delay);
        if (Measured == phase::schedule) note_times(s, schedule_watch, timers_);
        set.note_memory(s);
        if (Measured == phase::cancel) {
            const stopwatch cancel_watch;
            s.result.cancelled = set.each(second, [](C& c, handle& h, std::uint32_t) { return c.cancel(h); });
            note_times(s, cancel_watch, timers_);
        }
        s.result.pending = (*set).pending();
        s.result.fired = (*set).fired();
        return s;
    }

private:
    std::size_t timers_;
};

// ---- expiry ----

/// All N timers fire, each at a random moment within so many milliseconds: with one, that is one tick for those who have
/// ticks of that size, and a million deadlines for those who keep them exactly. They were moved there in random order, so
/// that the order of firing is not the order in memory.
template <firing_contender C, int SpreadMilliseconds>
class fire_leg final : public leg {
public:
    explicit fire_leg(std::size_t timers) : timers_(timers) {}

    sample repeat(std::uint64_t repetition) override {
        using handle = typename C::handle;
        const numbers order = random_order(timers_, repetition + 1);
        const numbers later =
            random_numbers(timers_, static_cast<std::size_t>(spread.count()) * 1'000'000, repetition + 2);
        for (;;) {
            live_set<C> set(timers_);
            sample s;
            const stopwatch scheduling;
            set.schedule_all(numbers_in_order(timers_), far_delay);
            set.note_memory(s);
            // Where time is real, everything has to be in place before the first is due.
            const auto expected = milliseconds(static_cast<std::int64_t>(scheduling.wall_ns() * 1e-6) + 10);
            const auto start = (*set).after(patience_ * expected);
            set.each(order, [&](C& c, handle& h, std::uint32_t n) {
                return c.move_to(h, n, start + std::chrono::nanoseconds(later[n])), false;
            });
            if (!(*set).reach(start)) {
                patience_ *= 2;
                continue;
            }
            const stopwatch watch;
            (*set).fire_until(start + spread);
            note_times(s, watch, timers_);
            s.result.pending = (*set).pending();
            s.result.fired = (*set).fired();
            if (s.result.fired.fired != timers_) throw std::runtime_error("not every timer fired, or one did twice");
            return s;
        }
    }

private:
    static constexpr milliseconds spread{SpreadMilliseconds};

    std::size_t timers_;
    int patience_ = 3;
};

} // namespace bench
