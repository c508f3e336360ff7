// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Several threads run one context: a chain of handlers each, a batch of operations in each handler. A chain works on
// its own part of the timers, or on all of them. The handlers of aborted waits run on any thread. What is measured ends
// when all chains have.
#pragma once

#include "contenders/asio_loop.hpp"
#include "workloads/rounds.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

namespace bench {

enum class works_on { own_part, all };

template <contender C, class Operation, int Threads, works_on Timers = works_on::own_part>
class threads_leg final : public timers_leg {
public:
    explicit threads_leg(std::size_t timers) : timers_leg(timers) {
        asio_loop::threads() = Threads;
        unpin();
    }

    sample repeat(std::uint64_t repetition) override {
        const std::uint64_t operations = live_set_operations(timers_);
        live_set<C> set(timers_);
        set.schedule_all(random_order(timers_, 0), usual_delay);
        run(set, operations / 4, 2 * repetition + 1);
        sample s;
        set.note_memory(s);
        const stopwatch watch;
        s.result.cancelled = run(set, operations, 2 * repetition + 2);
        note_times(s, watch, operations);
        (*set).work(0, [] {}); // what the threads left
        note_result(s, *set);
        return s;
    }

private:
    struct chain {
        live_set<C>* set;
        std::atomic<int>* running;
        numbers list;
        std::size_t next = 0;
        std::uint64_t trues = 0;

        void operator()() {
            const std::size_t to = std::min(next + batch, list.size());
            for (; next < to; ++next) trues += set->apply(list[next], &Operation::template apply<C>);
            asio::io_context& io = (**set).context();
            if (next < list.size())
                asio::post(io, std::ref(*this));
            else if (--*running == 0)
                io.stop();
        }
    };

    std::uint64_t run(live_set<C>& set, std::uint64_t operations, std::uint64_t seed) const {
        asio::io_context& io = (*set).context();
        std::atomic<int> running{Threads};
        std::vector<chain> chains(Threads, chain{&set, &running, {}});
        for (std::size_t i = 0; i < chains.size(); ++i) {
            const std::size_t timers = Timers == works_on::all ? timers_ : timers_ / Threads;
            chains[i].list = random_numbers(operations / Threads, timers, seed + (i << 32));
            if constexpr (Timers == works_on::own_part)
                for (std::uint32_t& n : chains[i].list) n = Threads * n + static_cast<std::uint32_t>(i);
        }
        io.restart();
        for (chain& c : chains) asio::post(io, std::ref(c));
        std::vector<std::thread> others;
        for (int i = 1; i < Threads; ++i)
            others.emplace_back([&io, i] {
                split_count::thread() = i;
                io.run();
            });
        io.run();
        for (std::thread& t : others) t.join();
        std::uint64_t trues = 0;
        for (const chain& c : chains) trues += c.trues;
        return trues;
    }
};

} // namespace bench
