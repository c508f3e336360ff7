// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Two threads run one context, and each has half of the timers to work on: a chain of handlers, a batch of operations each.
// The handlers of aborted waits run on either. What is measured ends when both chains have.
#pragma once

#include "contenders/asio_loop.hpp"
#include "workloads/rounds.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <thread>

namespace bench {

template <contender C, class Operation>
class two_thread_leg final : public timers_leg {
public:
    explicit two_thread_leg(std::size_t timers) : timers_leg(timers) {
        asio_loop::threads() = 2;
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
        numbers list;
        std::size_t next = 0;
        std::uint64_t trues = 0;
        std::atomic<int>* running;

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
        std::atomic<int> running{2};
        std::array<chain, 2> chains{{{&set, {}, 0, 0, &running}, {&set, {}, 0, 0, &running}}};
        for (std::size_t i = 0; i < chains.size(); ++i) {
            chains[i].list = random_numbers(operations / 2, timers_ / 2, seed + (i << 32));
            for (std::uint32_t& n : chains[i].list) n = 2 * n + static_cast<std::uint32_t>(i);
        }
        io.restart();
        for (chain& c : chains) asio::post(io, std::ref(c));
        std::thread other([&io] {
            split_count::thread() = 1;
            io.run();
        });
        io.run();
        other.join();
        return chains[0].trues + chains[1].trues;
    }
};

} // namespace bench
