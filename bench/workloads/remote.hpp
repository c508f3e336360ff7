// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Two threads with a context and timers of their own, each working on those of the other, as when an answer arrives on
// one thread and the request's timer lives on another. Timers for any thread are called directly; others have to be
// asked by a post.
#pragma once

#include "contenders/asio_loop.hpp"
#include "workloads/rounds.hpp"

#include <asio/executor_work_guard.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

namespace bench {

enum class reach { directly, by_post };

template <contender C, reach Reach>
class remote_leg final : public timers_leg {
public:
    explicit remote_leg(std::size_t timers) : timers_leg(timers) { unpin(); }

    sample repeat(std::uint64_t repetition) override {
        const std::uint64_t operations = live_set_operations(timers_);
        live_set<C> first(timers_ / 2), second(timers_ / 2);
        for (live_set<C>* set : {&first, &second}) set->schedule_all(random_order(timers_ / 2, 0), usual_delay);
        run(first, second, operations / 4, 2 * repetition + 1);
        sample s;
        const stopwatch watch;
        s.result.cancelled = run(first, second, operations, 2 * repetition + 2);
        note_times(s, watch, operations);
        for (live_set<C>* set : {&first, &second}) {
            (**set).work(0, [] {}); // what the threads left
            s.result.pending += (**set).pending();
            s.result.fired.fired += (**set).fired().fired;
        }
        return s;
    }

private:
    // Runs on one side's context, and works on the timers of the other side.
    struct chain {
        asio::io_context* here;
        live_set<C>* there;
        std::function<void()> on_end;
        numbers list;
        std::size_t next = 0;
        std::uint64_t trues = 0;
        std::size_t applied = 0;

        void operator()() {
            const std::size_t to = std::min(next + batch, list.size());
            for (; next < to; ++next) {
                if constexpr (Reach == reach::directly)
                    apply(list[next]);
                else
                    asio::post((**there).context(), [this, n = list[next]] { apply(n); });
            }
            if (next < list.size()) asio::post(*here, std::ref(*this));
        }
        void apply(std::uint32_t number) {
            trues += there->apply(number, &churn_operation::apply<C>);
            if (++applied == list.size()) on_end();
        }
    };

    std::uint64_t run(live_set<C>& first, live_set<C>& second, std::uint64_t operations, std::uint64_t seed) const {
        const std::array sets{&first, &second};
        std::atomic<int> running{2};
        const auto on_end = [&] {
            if (--running == 0)
                for (live_set<C>* set : sets) (**set).context().stop();
        };
        std::array<chain, 2> chains;
        std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards;
        for (std::size_t i = 0; i < sets.size(); ++i) {
            asio::io_context& io = (**sets[i]).context();
            chains[i] = {&io, sets[1 - i], on_end, random_numbers(operations / 2, timers_ / 2, seed + (i << 32))};
            io.restart();
            guards.push_back(asio::make_work_guard(io));
            asio::post(io, std::ref(chains[i]));
        }
        std::thread other([&] {
            split_count::thread() = 1;
            (*second).context().run();
        });
        (*first).context().run();
        other.join();
        return chains[0].trues + chains[1].trues;
    }
};

} // namespace bench
