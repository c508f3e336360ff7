// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A live set that keeps its size: the same operation on one timer after another.
#pragma once

#include "workloads/live_set.hpp"

namespace bench {

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

// Every deadline is earlier than all before it.
struct touch_earlier_operation {
    template <class C>
    bool apply(C& c, typename C::handle& h, std::uint32_t number) {
        if (++moves % 10 == 0) delay -= milliseconds(1);
        c.move(h, number, delay);
        return false;
    }
    milliseconds delay = far_delay;
    std::uint64_t moves = 0;
    static constexpr milliseconds first_delay = far_delay;
};

// With a wait pending, which is aborted: what an asio timer's user does.
struct rearm_operation {
    template <class C>
    static bool apply(C& c, typename C::handle& h, std::uint32_t number) {
        c.schedule(h, number, usual_delay);
        return false;
    }
};

enum class order { random, oldest_first };

template <contender C, class Operation, order Order>
class live_set_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        renew();
        const std::uint64_t operations = live_set_operations(timers_);
        const numbers warm_up = list(operations / 4, 2 * repetition + 1);
        const numbers measured = list(operations, 2 * repetition + 2);
        sample s = memory_;
        const auto apply = [this](C& c, typename C::handle& h, std::uint32_t n) { return operation_.apply(c, h, n); };
        set_->each(warm_up, apply);
        const stopwatch watch;
        s.result.cancelled = set_->each(measured, apply);
        note_times(s, watch, operations);
        note_result(s, **set_);
        return s;
    }

private:
    numbers list(std::size_t count, std::uint64_t seed) {
        if constexpr (Order == order::random) {
            return random_numbers(count, timers_, seed);
        } else {
            numbers n(count);
            for (std::uint32_t& number : n) number = static_cast<std::uint32_t>(oldest_++ % timers_);
            return n;
        }
    }
    /// As after some time of use; if the oldest goes first, in the order in which they go.
    numbers first_list() {
        if constexpr (Order == order::random) return random_order(timers_, 0);
        oldest_ = 0;
        return list(timers_, 0);
    }

    static constexpr milliseconds first_delay() {
        if constexpr (requires { Operation::first_delay; })
            return Operation::first_delay;
        else
            return usual_delay;
    }

    // Real time passes while other legs run: nothing may fire before the set is made anew.
    void renew() {
        if (set_ && !(C::real_time && age_->wall_ns() > 15e9)) return;
        set_.reset();
        age_.emplace();
        set_.emplace(timers_);
        operation_ = {};
        set_->schedule_all(first_list(), first_delay());
        set_->note_memory(memory_);
    }

    std::optional<stopwatch> age_;
    std::optional<live_set<C>> set_;
    Operation operation_;
    std::uint64_t oldest_ = 0;
    sample memory_;
};

} // namespace bench
