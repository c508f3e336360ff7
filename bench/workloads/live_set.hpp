// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the workloads share: a contender with N timers to work on.
//
// What is measured is a loop over a sequence of timer numbers that was made beforehand and is the same for all. Waiting
// for real deadlines, making handles, and setting up are not measured; delivering aborted handlers is.
#pragma once

#include "contenders/contender.hpp"
#include "leg.hpp"
#include "machine.hpp"
#include "numbers.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace bench {

constexpr milliseconds usual_delay{30'000};
constexpr milliseconds far_delay{3'600'000};
constexpr std::size_t batch =
    128; // operations between two visits to the loop: as many events as epoll gives Asio at once

inline std::uint64_t live_set_operations(std::size_t timers) { return timers >= 1'000'000 ? 300'000 : 1'000'000; }

/// A workload on so many timers.
class timers_leg : public leg {
public:
    explicit timers_leg(std::size_t timers) : timers_(timers) {}

protected:
    std::size_t timers_;
};

/// A contender with N handles.
template <contender C>
class live_set {
public:
    using handle = typename C::handle;

    explicit live_set(std::size_t timers) : heap_before_(heap_in_use()), handles_(make_handles(contender_, timers)) {}

    live_set(const live_set&) = delete;
    live_set& operator=(const live_set&) = delete;
    ~live_set() {
        if constexpr (requires { contender_.close(handles_); }) contender_.close(handles_);
    }

    /// Calls f(contender, handles, step) for each of the list, in batches; counts the trues that it returns.
    template <class Step, class F>
    std::uint64_t run(const std::vector<Step>& list, F f) {
        std::uint64_t trues = 0;
        for (std::size_t from = 0; from < list.size(); from += batch) {
            const std::size_t to = std::min(from + batch, list.size());
            contender_.work(to - from, [&] {
                trues += run_batch(contender_, handles_.data(), list.data() + from, list.data() + to, f);
            });
        }
        return trues;
    }
    /// The same with f(contender, handle, number).
    template <class F>
    std::uint64_t each(const numbers& list, F f) {
        return run(list, [f](C& c, handle* handles, std::uint32_t n) { return f(c, handles[n], n); });
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
    // What this does beside the operation counts as the contender's. So it has its own copies of all. And everything
    // that can be inlined is, as where a program has a delay as a constant.
    template <class Step, class F>
    [[gnu::flatten]] static std::uint64_t run_batch(C& c, handle* handles, const Step* step, const Step* end, F f) {
        std::uint64_t trues = 0;
        for (; step != end; ++step) trues += f(c, handles, *step);
        return trues;
    }

    std::size_t heap_before_;
    C contender_;
    fixed_array<handle> handles_;
};

/// Whoever takes part has to come to the same.
template <contender C>
void note_result(sample& s, const C& c) {
    s.result.pending = c.pending();
    s.result.fired = c.fired();
}

inline void note_times(sample& s, const stopwatch& watch, std::uint64_t operations) {
    s.cpu_ns = watch.cpu_ns() / static_cast<double>(operations);
    s.wall_ns = watch.wall_ns() / static_cast<double>(operations);
    s.mallocs = static_cast<double>(watch.mallocs()) / static_cast<double>(operations);
    s.operations = operations;
}

} // namespace bench
