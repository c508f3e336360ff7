// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The longest single operation. operation_times.hpp says how it is measured.
//
// The live set grows to N, keeps its size for a while, and is emptied. So the growth of a contender's own memory
// counts. What runs after the call does not, such as the handlers of aborted waits.
#pragma once

#include "workloads/live_set.hpp"
#include "workloads/operation_times.hpp"

namespace bench {

enum class timed_call { schedule, cancel, touch };

template <movable_contender C, timed_call Call>
class worst_leg final : public timers_leg {
    using handle = typename C::handle;

public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        const numbers first = random_order(timers_, 3 * repetition + 1);
        const numbers middle = random_numbers(live_set_operations(timers_), timers_, 3 * repetition + 2);
        const numbers last = random_order(timers_, 3 * repetition + 3);
        operation_times times(middle.size() + (Call == timed_call::touch ? 0 : timers_));
        sample s;
        for (int run = 0; run < operation_times::runs; ++run) {
            live_set<C> set(timers_);
            times.start_run();
            each<Call == timed_call::schedule>(set, first, times, grow);
            s.result.cancelled += each<true>(set, middle, times, keep_size);
            s.result.pending += (*set).pending();
            s.result.cancelled += each < Call == timed_call::cancel > (set, last, times, shrink);
        }
        times.note_mean(s);
        s.figures = times.figures(1, times.largest_least());
        return s;
    }

private:
    // Each calls timed(f) for the call that is measured.
    static constexpr auto grow = [](auto timed, C& c, handle& h, std::uint32_t n) {
        timed([&] { c.schedule(h, n, usual_delay); });
        return false;
    };
    static constexpr auto keep_size = [](auto timed, C& c, handle& h, std::uint32_t n) {
        bool was_pending = false;
        if constexpr (Call == timed_call::schedule) {
            was_pending = c.cancel(h);
            timed([&] { c.schedule(h, n, usual_delay); });
        } else if constexpr (Call == timed_call::cancel) {
            timed([&] { was_pending = c.cancel(h); });
            c.schedule(h, n, usual_delay);
        } else {
            timed([&] { c.move(h, n, usual_delay); });
        }
        return was_pending;
    };
    static constexpr auto shrink = [](auto timed, C& c, handle& h, std::uint32_t) {
        bool was_pending = false;
        timed([&] { was_pending = c.cancel(h); });
        return was_pending;
    };

    template <bool Measures, class F>
    static std::uint64_t each(live_set<C>& set, const numbers& list, operation_times& times, F f) {
        std::uint64_t trues = 0;
        const auto timed = [&times](auto g) { times.template time<Measures>(g); };
        for (std::size_t from = 0; from < list.size(); from += batch) {
            const std::size_t to = std::min(from + batch, list.size());
            const auto apply = [&] {
                for (std::size_t i = from; i < to; ++i)
                    trues += set.apply(list[i], [&](C& c, handle& h, std::uint32_t n) { return f(timed, c, h, n); });
            };
            (*set).work(to - from, [&] { times.template batch<Measures>(apply); });
        }
        return trues;
    }
};

} // namespace bench
